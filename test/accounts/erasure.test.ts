// The texts of people go with their account: a mark is in each text that they can write, and no row of the state has the
// mark after the deletion.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import {
  CreateBucketCommand,
  CreateMultipartUploadCommand,
  PutBucketTaggingCommand,
  PutObjectCommand,
} from '@aws-sdk/client-s3'
import { newPayer, type Payer } from '../payments/client.ts'
import { runTask } from '../payments/processor.ts'
import { product, sharedErgon } from '../product.ts'
import { s3ClientOf } from '../s3-client.ts'
import { PLAIN } from '../settings.ts'
import { startReceiver } from '../webhooks/receiver.ts'

product(PLAIN)

const MARK = 'zorilla'
const TIMEOUT_MS = 600_000
/** On a machine with a load of 40 a database takes two minutes. */
const WAIT_MS = 300_000
const ROWS_SHOWN = 3
/** Tables that had the mark, so that the test cannot pass by reading nothing. */
const MARKED = [
  'audit_entries',
  'command_logins',
  'database_roles',
  'deployments',
  'function_versions',
  'members',
  'object_versions',
  'passkeys',
  'registry_passwords',
  'resource_logs',
  'resources',
  'tokens',
  'uploads',
  'webhook_deliveries',
  'webhook_endpoints',
  'workload_versions',
  'workloads',
]

/** Each kind of record that an account has here. */
const EXPORTED = [
  'account',
  'audit',
  'automatic_topup',
  'bucket',
  'database',
  'deployment',
  'end',
  'function',
  'ledger',
  'member',
  'passkey',
  'registry',
  'token',
  'webhook',
  'workload',
]

test('a deleted account leaves no text of its people', { timeout: TIMEOUT_MS }, async () => {
  const ergon = sharedErgon()
  await using receiver = await startReceiver()
  receiver.answer = (_, response) => void response.end(`thanks, ${MARK}`)
  const payer = await newPayer(ergon)
  await ergon.control('funds.add', { account: payer.account, pusd: '9000000000000' })
  await writePeople(payer)
  await writeObjects(payer, receiver.url)
  await writeServices(payer)
  await until('runs and logs', async () => {
    const tables = new Set(Object.keys(await rowsWithMark()))
    return MARKED.every((name) => tables.has(name))
  })
  await ok(payer, 'PATCH', '/v1/account', { low_water: '3.00' })
  // No way to pay is set up here.
  await ergon.sql(
    `insert into payment_accounts (account, auto_amount_pusd, auto_below_pusd, auto_month_pusd)
     values ($1, 5000000000000, 3000000000000, 20000000000000)`,
    [payer.account],
  )
  const { text } = await payer.call('GET', '/v1/account/export')
  assert.match(text, /^\{"record":"account",[^\n]*"low_water_pusd":"3000000000000"/m)
  const records = text.trimEnd().split('\n')
  const kinds = records.map((line) => (JSON.parse(line) as { record: string }).record)
  for (const kind of EXPORTED) assert.ok(kinds.includes(kind), kind)
  await ok(payer, 'DELETE', '/v1/account', { confirm: payer.account, at_once: true })
  await until('the deletion', async () => {
    await runTask(ergon, 'accounts.delete')
    const done = 'select from account_deletions where account = $1 and done_at is not null'
    return (await ergon.sql(done, [payer.account])).length > 0
  })
  assert.deepEqual(await rowsWithMark(), {})
})

/** The first rows with the mark, by table; bytes are read as hex. */
async function rowsWithMark(): Promise<Record<string, string[]>> {
  const ergon = sharedErgon()
  const tables = await ergon.sql<{ name: string }>(
    `select format('%I.%I', schemaname, tablename) as name from pg_tables
     where schemaname not in ('pg_catalog', 'information_schema')`,
  )
  const found: Record<string, string[]> = {}
  for (const { name } of tables) {
    const rows = await ergon.sql<{ row: string }>(
      `select row from (select t::text as row from ${name} t) r where row like $1 or row like $2 limit $3`,
      [`%${MARK}%`, `%${Buffer.from(MARK).toString('hex')}%`, ROWS_SHOWN],
    )
    if (rows.length > 0) found[name.replace('public.', '')] = rows.map(({ row }) => row)
  }
  return found
}

async function writePeople(payer: Payer): Promise<void> {
  await ok(payer, 'PATCH', '/v1/members/me', { name: MARK, contact: `${MARK}@example.com` })
  await ok(payer, 'POST', '/v1/members', { name: MARK, role: 'viewer', contact: MARK })
  await ok(payer, 'POST', '/v1/tokens', { name: `the laptop of ${MARK}`, scope: 'deploy' })
  // Rows that a browser would cause: passkeys and logins of a command line.
  await sharedErgon().sql(
    `insert into passkeys (id, account, member, credential, public_key, counter, transports, is_synced, name)
       select 'pk_' || id, account, id, id, '', 0, '{}', true, $2 from members where account = $1`,
    [payer.account, MARK],
  )
  await sharedErgon().sql(
    `insert into command_logins (id, user_code, code_challenge, name, address, asker, expires_at, account, member)
       select 'login_' || id, id, '', $2, '127.0.0.1', '', now() + interval '1 hour', account, id
       from members where account = $1`,
    [payer.account, MARK],
  )
}

/** A charge names its bucket, so the bucket has no mark. */
const BUCKET = `erased-${Date.now()}`

async function writeObjects(payer: Payer, url: string): Promise<void> {
  const s3 = s3ClientOf({ baseUrl: sharedErgon().baseUrl, token: payer.token })
  await s3.send(new CreateBucketCommand({ Bucket: BUCKET }))
  const tags = { TagSet: [{ Key: 'of', Value: MARK }] }
  await s3.send(new PutBucketTaggingCommand({ Bucket: BUCKET, Tagging: tags }))
  await s3.send(
    new PutObjectCommand({ Bucket: BUCKET, Key: MARK, Body: MARK, Metadata: { of: MARK } }),
  )
  await s3.send(new CreateMultipartUploadCommand({ Bucket: BUCKET, Key: MARK }))
  const events = ['object.created']
  const asked = { url: `${url}/${MARK}`, events, description: MARK }
  const { id } = await ok(payer, 'POST', '/v1/webhooks', asked)
  await ok(payer, 'POST', `/v1/webhooks/${String(id)}/test`, { event: 'object.created' })
}

async function writeServices(payer: Payer): Promise<void> {
  await ok(payer, 'POST', '/v1/databases', { name: MARK })
  await ok(payer, 'POST', '/v1/functions', {
    name: MARK,
    file: 'index.mjs',
    source: `export default () => { console.log('${MARK}'); return new Response('${MARK}') }`,
    env: { OF: MARK },
    route: `/${MARK}`,
    routes: [`fn.${MARK}.example.com`],
    on: [`bucket/${BUCKET}/object-created`],
  })
  const registry = `${MARK}.example.com`
  await ok(payer, 'PUT', `/v1/registries/${registry}`, { username: MARK, password: MARK })
  await ok(payer, 'POST', '/v1/workloads', {
    name: MARK,
    image: `127.0.0.1:1/${MARK}`,
    env: { OF: MARK },
    secrets: { KEY: MARK },
    command: [MARK],
    routes: [`www.${MARK}.example.com`],
  })
  const description = `# ${MARK}\noutput "of" {\n  value = "${MARK}"\n}\n`
  await ok(payer, 'POST', '/v1/deployments', { stack: MARK, description, file: `${MARK}.hcl` })
  const isThere = async (path: string) => (await ok(payer, 'GET', path))['status'] === 'deployed'
  await until('the database', () => isThere(`/v1/databases/${MARK}`))
  await ok(payer, 'POST', `/v1/databases/${MARK}/roles`, { name: `${MARK}_role` })
  await ok(payer, 'POST', `/v1/databases/${MARK}/query`, { sql: `select '${MARK}'` })
  await until('the function', () => isThere(`/v1/functions/${MARK}`))
  await fetch(String((await ok(payer, 'GET', `/v1/functions/${MARK}`))['url']))
}

async function ok(payer: Payer, ...asked: Parameters<Payer['call']>) {
  const { status, json, text } = await payer.call(...asked)
  assert.ok(status < 300, `${asked[0]} ${asked[1]}: ${text}`)
  return json
}

async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
  const signal = AbortSignal.timeout(WAIT_MS)
  while (!(await holds())) {
    assert.ok(!signal.aborted, `it did not come: ${what}`)
    await pause(500)
  }
}
