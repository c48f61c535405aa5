// The end of an account: the days in which it can be restored, what is removed, what the books keep, and kills in between.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { before, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import {
  CreateBucketCommand,
  GetObjectCommand,
  PutObjectCommand,
  PutObjectRetentionCommand,
  type S3Client,
} from '@aws-sdk/client-s3'
import { bookFaults } from '../books.ts'
import { newPayer, type Answer, type Payer } from '../payments/client.ts'
import { addCard, CARDS, paid, processorAnswers, runTask } from '../payments/processor.ts'
import { product, sharedErgon } from '../product.ts'
import { s3ClientOf } from '../s3-client.ts'
import type { Ergon } from '../start-ergon.ts'

product(CARDS)

let ergon: Ergon
/** Exported, deleted, restored, and deleted for good, in the order of the tests: its database costs most. */
let full: Full
before(async () => {
  ergon = sharedErgon()
  await processorAnswers(ergon)
  full = await fullAccount()
})

const DAY_MS = 86_400_000
const STATUS_MS_MAX = 120_000
const codeOf = ({ json }: Answer) => json['title']
let made = 0

type Full = {
  readonly payer: Payer
  readonly account: string
  readonly bucket: string
  readonly database: string
  readonly pack: string
  readonly payment: string
  readonly s3: S3Client
}

/** An account with paid money and points, a token with a name, objects, a database and a webhook. */
async function fullAccount(): Promise<Full> {
  const payer = await newPayer(ergon)
  const { account } = payer
  await addCard(payer)
  const { id: payment } = await paid(payer, { amount: '20.00' })
  await ergon.control('grant.create', { account, pusd: '3000000000000' })
  const s3 = s3ClientOf(ergon, String((await namedToken(payer)).json['token']))
  const bucket = await newBucket(s3)
  const database = await payer.call('POST', '/v1/databases', { name: 'letters' })
  assert.equal(database.status, 201, database.text)
  const hook = { url: 'http://127.0.0.1:9/hook', events: ['balance.low'] }
  assert.equal((await payer.call('POST', '/v1/webhooks', hook)).status, 201)
  // Its time has ended, as a pack needs.
  const [from, to] = [DAY_MS, 60_000].map((ms) => new Date(Date.now() - ms).toISOString())
  const pack = await payer.call('POST', '/v1/compliance/packs', { from, to })
  assert.equal(pack.status, 202, pack.text)
  return {
    payer,
    account,
    bucket,
    database: String(database.json['id']),
    pack: String(pack.json['id']),
    payment,
    s3,
  }
}

/** Makes a bucket with two versions of an object. */
async function newBucket(s3: S3Client): Promise<string> {
  const Bucket = `deletion-${Date.now()}-${made++}`
  await s3.send(new CreateBucketCommand({ Bucket, ObjectLockEnabledForBucket: true }))
  for (const Body of ['one', 'two'])
    await s3.send(new PutObjectCommand({ Bucket, Key: 'letter.txt', Body }))
  return Bucket
}

const namedToken = (payer: Payer) =>
  payer.call('POST', '/v1/tokens', { name: 'the laptop of Ada', scope: 'deploy' })

const remove = (payer: Payer, more: object = {}) =>
  payer.call('DELETE', '/v1/account', { confirm: payer.account, ...more })

/** Longer than `until` waits: on a busy machine a server takes a minute. */
async function databaseIs(status: string): Promise<void> {
  const signal = AbortSignal.timeout(STATUS_MS_MAX)
  while ((await full.payer.call('GET', '/v1/databases/letters')).json['status'] !== status)
    await pause(100, undefined, { signal })
}

const stateOf = async (account: string) =>
  (
    await ergon.sql<{ parts: string[]; waits_for: string | null; failures: number; done: boolean }>(
      `select parts, waits_for, failures, done_at is not null as done from account_deletions where account = $1`,
      [account],
    )
  )[0]

test('the export has every record, once, and no secret', async () => {
  const { payer, account, bucket, database, pack, payment } = full
  const { status, text } = await payer.call('GET', '/v1/account/export')
  assert.equal(status, 200)
  const lines = text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>)
  const of = (kind: string) => lines.filter(({ record }) => record === kind)
  assert.deepEqual(of('end'), [{ record: 'end', records: lines.length - 1 }])
  assert.equal(of('account')[0]?.['id'], account)
  assert.deepEqual(
    of('token')
      .map(({ name }) => name)
      .toSorted()
      .at(-1),
    'the laptop of Ada',
  )
  assert.equal(of('bucket')[0]?.['name'], bucket)
  assert.deepEqual(
    [of('database')[0]?.['id'], of('database')[0]?.['fetch']],
    [database, 'ergon db export letters letters.dump'],
  )
  assert.equal(of('webhook')[0]?.['url'], 'http://127.0.0.1:9/hook')
  assert.equal(of('payment')[0]?.['id'], payment)
  assert.equal(of('evidence_pack')[0]?.['id'], pack)
  const actions = of('audit').map(({ action }) => action)
  for (const action of ['token.create', 'database.create', 'webhook.create'])
    assert.ok(actions.includes(action), action)
  const [counted] = await ergon.sql<{ entries: number }>(
    `select ((select count(*) from charges where account = $1 and to_at < now() - interval '1 day')
       + (select count(*) from transfers where 'money:' || $1 in (debit, credit)))::int as entries`,
    [account],
  )
  const ids = of('ledger').map(({ id }) => id)
  assert.equal(new Set(ids).size, ids.length)
  assert.equal(of('ledger').filter(({ kind }) => kind !== 'charge').length, counted?.entries)
  assert.ok(ids.some((id) => String(id).startsWith('rcpt_')))
  assert.doesNotMatch(text, /svc_[0-9a-z]{30}|whsec_/)
})

test('the command line exports, deletes and restores', async () => {
  const { id: account } = await ergon.control('account.create', { env: 'test' })
  const { token } = await ergon.control('token.create', { account, scope: 'billing-admin' })
  const env = {
    PATH: '',
    ERGON_DATA: ergon.dataFolder,
    ERGON_BASE_URL: ergon.baseUrl,
    ERGON_TOKEN: token,
  }
  const cli = (...words: string[]) => ergon.commands.run({ words, env })
  // ergon account export [file]
  const file = join(ergon.dataFolder, 'account.ndjson')
  assert.match((await cli('account', 'export', file)).stderr, /^The export is in /)
  assert.match(readFileSync(file, 'utf8'), /\{"record":"end","records":\d+\}\n$/)
  assert.equal((await cli('account', 'export')).stdout.split('\n')[0]?.includes(account), true)
  // ergon account delete [account]
  const asked = await cli('account', 'delete')
  assert.deepEqual(
    [asked.code, asked.stderr.includes(`ergon account delete ${account}`)],
    [2, true],
  )
  assert.match((await cli('account', 'delete', 'acct_none')).stderr, /Could not delete the account/)
  const deleted = JSON.parse((await cli('account', 'delete', account, '--json')).stdout) as object
  assert.equal((deleted as { status: string }).status, 'deleting')
  assert.match((await cli('account')).stdout, /^deletion {3}on \d{4}.*ergon account restore/m)
  // ergon account restore
  assert.match((await cli('account', 'restore')).stderr, /is as before/)
  assert.match((await cli('account', 'restore')).stderr, /Could not restore the account/)
})

test('an account is being deleted until it is restored: reads and the export work, nothing else does', async () => {
  const { payer, account, bucket, s3 } = full
  await databaseIs('deployed')
  const asked = await remove(payer)
  assert.equal(asked.status, 202, asked.text)
  assert.equal(asked.json['status'], 'deleting')
  const waitMs = Date.parse(String(asked.json['deletes_at'])) - Date.now()
  assert.ok(waitMs > 6.9 * DAY_MS && waitMs <= 7 * DAY_MS, asked.text)
  // No gateway takes a change from the answer on.
  for (const [method, path, body] of [
    ['POST', '/v1/tokens', { name: 'new' }],
    ['POST', '/v1/databases', { name: 'more' }],
    ['POST', '/v1/topups', { amount: '5.00' }],
    ['DELETE', '/v1/account', { confirm: account }],
    ['POST', '/v1/chat/completions', { model: 'auto', messages: [{ role: 'user', content: 'a' }] }],
  ] as const) {
    const refused = await payer.call(method, path, body)
    assert.deepEqual([refused.status, codeOf(refused)], [409, 'account_deleting'], path)
  }
  await assert.rejects(s3.send(new PutObjectCommand({ Bucket: bucket, Key: 'b', Body: 'b' })))
  const found = await s3.send(new GetObjectCommand({ Bucket: bucket, Key: 'letter.txt' }))
  assert.equal(await found.Body?.transformToString(), 'two')
  const seen = (await payer.call('GET', '/v1/account')).json
  assert.deepEqual([seen['status'], seen['deletes_at']], ['deleting', asked.json['deletes_at']])
  await databaseIs('suspended')
  const restored = await payer.call('POST', '/v1/account/restore', {})
  assert.deepEqual([restored.status, restored.json['status']], [200, 'active'])
  assert.equal((await namedToken(payer)).status, 201)
  await databaseIs('deployed')
  const again = await payer.call('POST', '/v1/account/restore', {})
  assert.deepEqual([again.status, codeOf(again)], [409, 'account_not_deleting'])
  const { data } = (await payer.call('GET', '/v1/events')).json as { data: { event: string }[] }
  const types = data.map((event) => event.event)
  assert.ok(types.includes('account.deletion_requested') && types.includes('account.restored'))
})

test('a deletion needs the id of the account, and object lock stands against it', async () => {
  const payer = await newPayer(ergon)
  await ergon.control('funds.add', { account: payer.account, pusd: '3000000000000' })
  const s3 = s3ClientOf(ergon, String((await namedToken(payer)).json['token']))
  const bucket = await newBucket(s3)
  const wrong = await payer.call('DELETE', '/v1/account', { confirm: 'acct_other' })
  assert.deepEqual([wrong.status, codeOf(wrong)], [400, 'invalid_request'])
  const retention = {
    Mode: 'COMPLIANCE',
    RetainUntilDate: new Date(Date.now() + 30 * DAY_MS),
  } as const
  await s3.send(
    new PutObjectRetentionCommand({ Bucket: bucket, Key: 'letter.txt', Retention: retention }),
  )
  const refused = await remove(payer)
  assert.deepEqual([refused.status, codeOf(refused)], [409, 'account_locked'])
  assert.match(String(refused.json['obstacles']), new RegExp(`^s3:${bucket}: object lock`))
  assert.equal((await payer.call('GET', '/v1/account')).json['status'], 'active')
  const live = await newPayer(ergon, { env: 'live' })
  const atOnce = await remove(live, { at_once: true })
  assert.deepEqual([atOnce.status, codeOf(atOnce)], [400, 'invalid_request'])
  const reader = await newPayer(ergon, { scope: 'deploy' })
  assert.equal(codeOf(await remove(reader)), 'scope_missing')
})

test(
  'everything of the account goes, whenever the work is killed, and the books add up',
  { timeout: 240_000 },
  async () => {
    const { payer, account, payment } = full
    await databaseIs('deployed')
    assert.equal((await remove(payer, { at_once: true })).status, 202)
    let kills = 0
    for (const deadline = Date.now() + 200_000; (await stateOf(account))?.done !== true;) {
      assert.ok(Date.now() < deadline, JSON.stringify(await stateOf(account)))
      // Fewer than a job has attempts: one that is killed at each is dead, and the operator is alarmed.
      if (kills < 2) {
        await ergon.killCell('tasks')
        kills++
      }
      await pause(1500)
      await runTask(ergon, 'accounts.delete').catch(() => undefined)
    }
    const left = await ergon.sql(
      `select 'bucket' as what from buckets where account = $1
     union all select 'object' from object_versions v join buckets b on b.id = v.bucket where b.account = $1
     union all select 'webhook' from webhook_endpoints where account = $1
     union all select 'database' from resources where account = $1 and actual <> 'deleted'
     union all select 'backup' from databases d join resources n using (id) where n.account = $1 and d.backup_bytes <> 0
     union all select 'token' from tokens where account = $1 and (revoked_at is null or name <> '')
     union all select 'card' from payment_methods where account = $1 and (state <> 'removed' or label <> '')
     union all select 'audit' from audit_entries where account = $1 and (details <> '{}' or member_name is not null)
     union all select 'event' from events where account = $1
     union all select 'evidence pack' from evidence_packs where account = $1
     union all select 'member' from members where account = $1 and (name <> '' or contact is not null)
     union all select 'money' from wallets where id = 'money:' || $1 and posted <> 0`,
      [account],
    )
    assert.deepEqual(left, [])
    assert.equal((await payer.call('GET', '/v1/account')).status, 401)
    // Personal texts are erased. Rows that the books need are kept.
    const [kept] = await ergon.sql<{ charges: number; refunds: string }>(
      `select (select count(*)::int from charges where account = $1) as charges,
       (select string_agg(state || ' ' || round(amount_pusd / 1e12), ',')
         from payment_refunds where payment = $2) as refunds`,
      [account, payment],
    )
    assert.ok((kept?.charges ?? 0) > 0)
    // Points were spent first, and of the money no more than parts of a cent, which a gateway had leased.
    assert.equal(kept?.refunds, 'succeeded 20')
    assert.deepEqual(await bookFaults(ergon), [])
  },
)
