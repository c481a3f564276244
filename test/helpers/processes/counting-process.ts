import { changeState } from '../../../src/cli/state/change-state.js';

/** Counts a number up in the state folder, as often as its argument says. */
for (let left = Number(process.argv[2]); left > 0; left -= 1) {
  const own = `${process.pid}-${left}`;
  changeState('count', (text) => {
    const counted: string[] = text === undefined ? [] : JSON.parse(text);
    return { text: JSON.stringify(counted.includes(own) ? counted : [...counted, own]), result: undefined };
  });
}
