// Passwords of registries on a state of their own: kept, found for pulls, and forgotten.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, suite, test } from 'node:test'
import { newEncryptionKey } from '#base/encryption.ts'
import { REGISTRY_PASSWORDS_MAX } from '#contract/workloads/registry-limits.ts'
import { addTestAccount, openLedgerState } from '#ledger/test-state.fixture.ts'
import { openTestUrl, whyNoState } from '#postgres/testing-url.ts'
import type { State } from '#state/connect.ts'
import { createPasswordFor } from './passwords.ts'
import { createRegistryList } from './registry-list.ts'
import { createRegistryLogin } from './registry-login.ts'
import { createRegistryLogout } from './registry-logout.ts'

const SECRET = 'a:s3cret'

suite('passwords of registries', { skip: whyNoState() }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'ergon-passwords-'))
  const file = join(folder, 'config.json')
  const environmentKey = newEncryptionKey()
  let url: Awaited<ReturnType<typeof openTestUrl>>
  let state: State
  before(async () => {
    url = await openTestUrl()
    state = await openLedgerState(url.of, 2)
    for (const id of ['acct_a', 'acct_b', 'acct_many']) {
      await addTestAccount(state, { id, env: 'test', lowWater: 0n })
      await state.query(
        "insert into members (id, account, name, role, state) values ('mem_' || $1, $1, 'a', 'owner', 'active')",
        [id],
      )
    }
  })
  after(async () => {
    await state?.[Symbol.asyncDispose]()
    await url?.[Symbol.asyncDispose]()
    rmSync(folder, { recursive: true })
  })

  const callOf = (registry: string, account: string, body: object = {}) =>
    ({
      caller: { account, member: `mem_${account}` },
      spend: { requestId: 'req_a' },
      parameters: { registry },
      body,
    }) as never
  const bodyOf = (made: unknown) => (made as { body: () => Record<string, unknown> }).body()
  const login = async (registry: string, { account = 'acct_a', password = SECRET } = {}) =>
    bodyOf(
      await createRegistryLogin({ state, settings: { environmentKey } })(
        callOf(registry, account, { username: 'reader', password }),
      ),
    )
  const logout = async (registry: string) =>
    bodyOf(await createRegistryLogout({ state })(callOf(registry, 'acct_a')))
  const passwordFor = (image: string, account = 'acct_a', from: string | undefined = file) =>
    createPasswordFor({ state, environmentKey, file: from })(image, account)

  test('a password opens its registry for its account, in place of the operator’s', async () => {
    const auth = Buffer.from('operator:o:p').toString('base64')
    writeFileSync(file, JSON.stringify({ auths: { 'ghcr.io': { auth } }, credsStore: 'x' }))
    const operators = { user: 'operator', password: 'o:p' }
    assert.deepEqual(await passwordFor('ghcr.io/acme/api:1'), operators)
    const made = await login('GHCR.io')
    assert.deepEqual([made['registry'], made['username']], ['ghcr.io', 'reader'])
    const own = { user: 'reader', password: SECRET }
    assert.deepEqual(await passwordFor('ghcr.io/acme/api:1'), own)
    assert.deepEqual(await passwordFor('ghcr.io/acme/api:1', 'acct_b'), operators)
    for (const image of ['example.com/acme/api:1', 'oci:/srv/images/api', 'api:1'])
      assert.equal(await passwordFor(image), undefined, image)
    await login('ghcr.io', { password: 'another' })
    assert.equal((await passwordFor('ghcr.io/acme/api:1'))?.password, 'another')
    await logout('ghcr.io')
    assert.deepEqual(await passwordFor('ghcr.io/acme/api:1'), operators)
    await assert.rejects(logout('ghcr.io'), { code: 'registry_not_found' })
  })

  test('a password is encrypted, and is in no answer and no entry of the audit log', async () => {
    const made = [await login('localhost:5000'), await login('docker.io')]
    const listed = bodyOf(await createRegistryList({ state })(callOf('', 'acct_a')))
    const { rows } = await state.query(
      'select to_jsonb(p) as row from registry_passwords p union all select to_jsonb(a) from audit_entries a',
    )
    assert.ok(rows.length > 4)
    assert.doesNotMatch(JSON.stringify([made, listed, rows]), /s3cret/)
    // A sealed password of one account or registry is none of another.
    await state.query(
      `insert into registry_passwords select 'acct_b', registry, username, sealed_password, created_at, updated_at
       from registry_passwords where account = 'acct_a' and registry = 'docker.io'`,
    )
    await assert.rejects(passwordFor('api:1', 'acct_b'), { code: 'undecipherable' })
  })

  test('a word that is no registry is refused, and one registry too many', async () => {
    for (const word of ['', 'ghcr', 'a b.c', 'https://ghcr.io', `${'a'.repeat(254)}.io`])
      await assert.rejects(login(word), { code: 'invalid_request' }, word)
    const account = 'acct_many'
    for (let nth = 0; nth < REGISTRY_PASSWORDS_MAX; nth++) await login(`r${nth}.io`, { account })
    await login('r0.io', { account })
    await assert.rejects(login('more.io', { account }), { code: 'too_many_registries' })
  })

  test('a damaged file of the operator says nothing of what it has', async () => {
    for (const content of ['s3cret', '{"auths":{"ghcr.io":{"auth":"s3cret!"}}}']) {
      writeFileSync(file, content)
      await assert.rejects(passwordFor('ghcr.io/acme/api:1'), ({ message }: Error) => {
        assert.doesNotMatch(message, /s3cret/)
        return message.includes('not as docker login writes it')
      })
    }
    await assert.rejects(passwordFor('ghcr.io/a:1', 'acct_b', `${file}-none`), /no such file/)
  })
})
