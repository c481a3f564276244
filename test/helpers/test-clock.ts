/** A clock that stands still until it is told to go on. */
export function testClock(start = 1_700_000_000_000) {
  let time = start;
  const advance = async (milliseconds: number): Promise<void> => {
    time += milliseconds;
  };
  return { now: () => time, advance };
}
