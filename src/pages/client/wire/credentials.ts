/** The credentials that were typed into a page, as headers. They are read when they are needed, and kept nowhere else. */
export function credentialsIn(place: ParentNode): readonly (readonly [name: string, value: string])[] {
  return [...place.querySelectorAll<HTMLInputElement>('[data-credential]')].flatMap((field) => {
    const name = field.dataset['credential'] ?? '';
    const value = field.value.trim();
    if (value === '') return [];
    return [[name, name === 'Authorization' ? `Bearer ${value}` : value] as const];
  });
}
