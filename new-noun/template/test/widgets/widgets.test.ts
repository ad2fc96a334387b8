import { expect, test } from '@jest/globals';
import { graphql, rest } from '../support/http/client.js';
import { onEachDatabase } from '../support/on-databases.js';

/** The promises that only widgets keep. The suites of `test/nouns/` test what every noun promises. */
onEachDatabase((app) => {
  test('Widgets-1: a widget has a name and a state, and a list is filtered by state at both doors', async () => {
    const { token } = await app().tenant();
    const post = (body: object) =>
      rest(app().url, '/v1/widgets', { method: 'POST', token, body: JSON.stringify(body) });
    const first = (await post({ name: 'First' })).body;
    const second = (await post({ name: 'Second', state: 'active' })).body;
    expect([first, second]).toEqual([
      { id: expect.any(Number), name: 'First' },
      { id: expect.any(Number), name: 'Second', state: 'active' },
    ]);
    expect((await rest(app().url, '/v1/widgets?state=active', { token })).body).toEqual([second]);
    expect((await rest(app().url, '/v1/widgets?order=newest', { token })).body).toEqual([second, first]);
    const query = '{ widgets(state: active) { nodes { id name state } } }';
    const { body } = await graphql(app().url, query, { token });
    expect(body.data.widgets.nodes).toEqual([{ id: String(second.id), name: 'Second', state: 'active' }]);
  });

  test('Widgets-2: a state that is not listed is refused', async () => {
    const { token } = await app().tenant();
    const body = JSON.stringify({ name: 'First', state: 'lost' });
    const refused = await rest(app().url, '/v1/widgets', { method: 'POST', token, body });
    expect([refused.status, refused.body.errors[0].field]).toEqual([400, 'state']);
  });
});
