// The command line: further names of models.
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { product, sharedErgon } from '../product.ts'
import type { Ergon } from '../start-ergon.ts'
import { addUpstream } from '../upstreams.ts'
import { commandLine } from './command-line.ts'
import { PLAIN } from '../settings.ts'

product(PLAIN)

const { run, json } = commandLine()

let ergon: Ergon
before(() => {
  ergon = sharedErgon()
})

test('an alias serves a name of another vendor with a model of ours, and the answer says which', async () => {
  const upstream = await addUpstream(ergon, 'aliased')
  try {
    const [alias, other] = ['gpt-4o-mini', 'meta-llama/Llama-3.1-8B']
    const chat = (model: string) =>
      fetch(`${ergon.baseUrl}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${ergon.token}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model, messages: [{ role: 'user', content: 'Hi' }], max_tokens: 4 }),
      })
    const unknown = await chat(alias)
    assert.equal(unknown.status, 404)
    assert.match(await unknown.text(), /gpt-4o-mini: there are auto, aliased/)
    const added = await json(['models', 'alias', 'add', alias, 'aliased'])
    assert.deepEqual(added, { name: alias, model: 'aliased' })
    assert.equal((await run(['models', 'alias', 'add', other, 'auto'])).code, 0)
    for (const name of [alias, other]) {
      const answer = await chat(name)
      assert.equal(answer.status, 200, name)
      assert.equal(((await answer.json()) as { model: string }).model, 'aliased')
    }
    const listed = (await json(['models', 'list'])) as { id: string; alias_of?: string }[]
    const entry = listed.find(({ id }) => id === alias)
    assert.equal(entry?.alias_of, 'aliased')
    const last = (await json(['usage', '--last'])) as { model: string; operation: string }
    assert.deepEqual([last.model, last.operation], ['aliased', 'chat.create'])
    assert.deepEqual(await json(['models', 'alias', 'list']), [
      { name: alias, model: 'aliased' },
      { name: other, model: 'auto' },
    ])
    for (const [name, model, why] of [
      ['a b', 'auto', /is no name/],
      ['aliased', 'auto', /is the name of a model/],
      ['gpt-5', 'nobody', /"nobody" is not served; there are auto, aliased/],
      ['gpt-5', alias, /is not served/],
    ] as const) {
      const refused = await run(['models', 'alias', 'add', name, model])
      assert.equal(refused.code, 1)
      assert.match(refused.stderr, why)
    }
    for (const name of [alias, other])
      assert.equal((await run(['models', 'alias', 'remove', name])).code, 0)
    assert.equal((await run(['models', 'alias', 'remove', alias])).code, 1)
    assert.equal((await chat(alias)).status, 404)
  } finally {
    await ergon.control('model.remove', { model: 'aliased' })
    await upstream.close()
  }
})
