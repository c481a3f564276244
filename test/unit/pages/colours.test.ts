import { contrastOf } from '../../../src/pages/layout/contrast.js';
import { brandOf, pageOptions } from '../../../src/pages/layout/page-options.js';

const brandWith = (light: Readonly<Record<string, string>>) => brandOf(pageOptions.parse({ colours: { light } }));

describe('what is written on a button', () => {
  test.each(['#ffee00', '#ffffff', '#000000', '#777777', '#767676', '#808080', '#0a6b4f', '#ff0000'])(
    'is read on the accent %s where no colour for it is given',
    (accent) => {
      const { light } = brandWith({ accent });
      expect(contrastOf(light.accent, light['on-accent'])).toBeGreaterThanOrEqual(4.5);
    },
  );

  test('is ours on an accent that it is read on', () => {
    expect(brandWith({ accent: '#0a6b4f' }).light['on-accent']).toBe('#ffffff');
    expect(brandWith({}).light['on-accent']).toBe('#ffffff');
  });

  test('is refused where it cannot be read, and the refusal says what to do', () => {
    const { error } = pageOptions.safeParse({ colours: { light: { accent: '#ffee00', 'on-accent': '#ffffff' } } });
    expect(error?.issues[0]).toMatchObject({
      path: ['colours', 'light', 'on-accent'],
      message: expect.stringMatching(/#ffee00: #ffffff has a contrast of 1\.\d\d, and 4\.5 is the least; leave it out/),
    });
    expect(pageOptions.safeParse({ colours: { dark: { 'on-accent': '#ffffff' } } }).success).toBe(false);
    expect(pageOptions.safeParse({ colours: { light: { accent: '#ffee00', 'on-accent': '#000000' } } }).success).toBe(
      true,
    );
  });
});
