/**
 * What `private` meant until here is called `unlisted`: not in the marketplace, and good for whoever knows it. Projects that were
 * made so are called by strangers, and stay so until their owners make them private.
 */
export function unlistedProjects(): readonly string[] {
  return [`update tollhouse_project set visibility = 'unlisted' where visibility = 'private'`];
}
