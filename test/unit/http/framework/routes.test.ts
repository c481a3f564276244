import { defineOperation, type OperationScope } from '../../../../src/http/framework/operation.js';
import { API } from '../../../../src/http/framework/path.js';
import { createRoutes } from '../../../../src/http/framework/routes.js';

/** An operation of a path, and who may call it; undefined where that is not said. */
function operation(path: string, scope: OperationScope | undefined) {
  return defineOperation({
    method: 'get',
    path,
    id: 'get',
    tag: 'Test',
    summary: 'Something',
    ...(scope === undefined ? {} : { scope }),
    responses: { 200: { description: 'It.' } },
    handler: async ({ res }: { readonly res: { end(): unknown } }) => void res.end(),
  });
}

describe('an operation under /api/v1', () => {
  test('has no routes while it does not say who may call', () => {
    const said = () => createRoutes([operation(`${API}/things`, undefined)], {}, () => () => {});
    expect(said).toThrow("/api/v1/things does not say who may call: give it a scope, or scope: 'public'");
  });

  test('is for anybody when it says so', () => {
    expect(createRoutes([operation(`${API}/things`, 'public')], {}).operations).toMatchObject([{ scope: 'public' }]);
  });

  test('has no routes while nobody checks who has its scope', () => {
    const said = () => createRoutes([operation(`${API}/things`, 'projects:read')], {});
    expect(said).toThrow('/api/v1/things needs to know who is calling');
  });
});

test('an operation anywhere else is for anybody unless it says otherwise', () => {
  expect(createRoutes([operation('/things', undefined)], {}).operations).toHaveLength(1);
});
