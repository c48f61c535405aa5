// Tokens by the command line: made, listed, rotated, revoked, and kept up where `ergon login` stored one.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { TokenList } from '#contract/identity/tokens.ts'
import { product, sharedErgon } from '../product.ts'
import { PLAIN } from '../settings.ts'
import { commandLine } from './command-line.ts'

product(PLAIN)
const { run, runAlone } = commandLine()

const statusOf = async (token: string) => {
  const headers = { authorization: `Bearer ${token.trim()}` }
  return (await fetch(`${sharedErgon().baseUrl}/v1/tokens`, { headers })).status
}
const ownerToken = async () =>
  (await sharedErgon().control('token.create', { scope: 'billing-admin', name: 'owner' })).token

test('`ergon tokens create`, list, rotate and revoke', async () => {
  const env = { ERGON_TOKEN: await ownerToken() }
  const cli = (...words: string[]) => run(words, { env })
  const named = async () => {
    const { data } = JSON.parse((await cli('tokens', 'list', '--json')).stdout) as TokenList
    return data.filter(({ name }) => name === 'deploys').map(({ id }) => id)
  }
  const made = await cli('tokens', 'create', 'deploys', '--scope', 'deploy', '--expires', '90d')
  assert.equal(made.code, 0, made.stderr)
  assert.match(made.stdout, /^svc_[0-9A-Za-z]{38}\n$/)
  const [id = ''] = await named()
  const next = await cli('tokens', 'rotate', id)
  assert.match(next.stderr, new RegExp(`replaces ${id}, which is revoked`))
  assert.deepEqual([await statusOf(made.stdout), await statusOf(next.stdout)], [401, 200])
  const [nextId = '', ...more] = await named()
  assert.deepEqual(more, [])
  assert.match((await cli('tokens', 'revoke', nextId)).stderr, /is revoked/)
  const again = await cli('tokens', 'revoke', nextId)
  assert.deepEqual([again.code, again.stdout], [1, ''])
  assert.match(again.stderr, /Could not find a valid token/)
})

test('`ergon tokens set` changes the limits that `ergon tokens create` set', async () => {
  const env = { ERGON_TOKEN: await ownerToken() }
  const cli = (...words: string[]) => run(words, { env })
  const made = await cli(
    'tokens',
    'create',
    'ci',
    '--rate',
    '60',
    '--energy-budget',
    '5 kJ/day',
    '--json',
  )
  assert.equal(made.code, 0, made.stderr)
  const { id } = JSON.parse(made.stdout) as { id: string }
  assert.match((await cli('tokens', 'list')).stdout, /60 requests a minute, 0\.0 J of 5 kJ\/day/)
  const set = await cli('tokens', 'set', id, '--rate', 'none', '--energy-budget', '10 kJ/day')
  assert.match(set.stderr, /: 0\.0 J of 10 kJ\/day\n/)
  assert.match((await cli('tokens', 'set', id, '--energy-budget', 'none')).stderr, /: no limits\n/)
  const wrong = await cli('tokens', 'set', id, '--rate', 'many')
  assert.deepEqual([wrong.code, wrong.stdout], [2, ''])
  assert.match(wrong.stderr, /Could not read --rate: "many"/)
  assert.match((await cli('tokens', 'set', id)).stderr, /Give --rate or --energy-budget, or both/)
})

test('a command that the token may not ask for says how to get a token that may', async () => {
  const env = { ERGON_TOKEN: sharedErgon().token }
  const refused = await run(['tokens', 'create', 'ci'], { env })
  assert.deepEqual([refused.code, refused.stdout], [1, ''])
  assert.match(refused.stderr, /ergon admin token create --scope billing-admin/)
})

test('a rotation of the token of `ergon login` stores the new one', async () => {
  const env = { ERGON_TOKEN: '' }
  const login = await runAlone(['login'], { env, input: await ownerToken() })
  assert.equal(login.code, 0, login.stderr)
  const current = async () => {
    const { stdout, stderr } = await run(['tokens', 'list', '--json'], { env })
    assert.equal(stderr, '')
    return (JSON.parse(stdout) as TokenList).data.find((token) => token.current)?.id ?? ''
  }
  const before = await current()
  const rotated = await run(['tokens', 'rotate', before], { env })
  assert.match(rotated.stderr, /has the new token/)
  const after = await current()
  assert.ok(after !== '' && after !== before, after)
})
