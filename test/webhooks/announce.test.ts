// Receipts and objects as events: each once, also when the process that announces them is killed.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { bookFaults } from '../books.ts'
import { product, sharedErgon } from '../product.ts'
import { PLAIN } from '../settings.ts'
import { openOwner, type Owner } from './owner.ts'
import { startReceiver, type Received } from './receiver.ts'

product(PLAIN)

const WAIT_MS = 60_000
const REQUESTS = 110
const OBJECTS = 12

async function until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  const lastMs = performance.now() + WAIT_MS
  while (!(await holds())) {
    assert.ok(performance.now() < lastMs, what)
    await pause(50)
  }
}

const killWebhooks = async () => {
  const ergon = sharedErgon()
  await until('the cell runs', () =>
    ergon.pidOf('webhooks').then(
      () => true,
      () => false,
    ),
  )
  await ergon.killCell('webhooks')
}

type Receipt = {
  readonly receipt_id: string
  readonly operation: string
  readonly energy_nj: string
}
const receiptsOf = (received: readonly Received[]) => {
  const events = new Map(received.map(({ body }) => [body.event_id, body]))
  return [...events.values()].map(({ data }) => data['receipts'] as Receipt[])
}

/** Makes a request; the id of its receipt. */
async function ask(owner: Owner): Promise<string> {
  const answer = await fetch(`${sharedErgon().baseUrl}/v1/models`, {
    headers: { authorization: `Bearer ${owner.token}` },
  })
  await answer.arrayBuffer()
  return answer.headers.get('x-receipt-id') ?? ''
}

test('receipt.published has each signed receipt once, some in one event, in their order', async () => {
  await using receiver = await startReceiver()
  const owner = await openOwner(sharedErgon())
  const before = await ask(owner)
  await until('the first is posted', async () => {
    const rows = await sharedErgon().sql('select from charges where id = $1', [before])
    return rows.length === 1
  })
  await owner.create(receiver.url, ['receipt.published'])
  const asked = await Promise.all(Array.from({ length: REQUESTS }, () => ask(owner)))
  await killWebhooks()
  asked.push(await ask(owner))
  const announced = () => receiptsOf(receiver.received).flat()
  await until('all receipts', () => {
    const ids = new Set(announced().map(({ receipt_id: id }) => id))
    return asked.every((id) => ids.has(id))
  })
  const ids = announced().map(({ receipt_id: id }) => id)
  assert.equal(new Set(ids).size, ids.length, 'a receipt came in two events')
  assert.ok(!ids.includes(before), 'a receipt from before the endpoint')
  const lengths = receiptsOf(receiver.received).map(({ length }) => length)
  assert.ok(Math.max(...lengths) > 1 && Math.max(...lengths) <= 100, String(lengths))
  const [first] = announced().filter(({ receipt_id: id }) => id === asked[0])
  const [charge] = await sharedErgon().sql(
    'select operation, energy_nj::text from charges where id = $1',
    [asked[0] ?? ''],
  )
  assert.deepEqual([first?.operation, first?.energy_nj], Object.values(charge ?? {}))
})

test('deliveries of receipts cause no further receipts without end', async () => {
  await using receiver = await startReceiver()
  const ergon = sharedErgon()
  const owner = await openOwner(ergon)
  await owner.create(receiver.url, ['receipt.published'])
  await receiver.first('the receipt of the create', () => true)
  const charged = async () =>
    (
      await ergon.sql("select from charges where account = $1 and operation = 'webhook.delivery'", [
        owner.account,
      ])
    ).length > 0
  await until('a charge of deliveries', charged)
  const count = receiver.received.length
  await pause(3000)
  assert.equal(receiver.received.length, count)
})

test('object.created comes once for each new object of a bucket with a rule, and by bucket', async () => {
  await using all = await startReceiver()
  await using some = await startReceiver()
  const ergon = sharedErgon()
  const owner = await openOwner(ergon)
  const s3 = async (method: string, path: string, body = '') => {
    const answer = await fetch(`${ergon.baseUrl}/${path}`, {
      method,
      headers: { authorization: `Bearer ${owner.token}` },
      ...(method === 'PUT' && { body }),
    })
    assert.ok(answer.ok, await answer.text())
  }
  const rule = `<NotificationConfiguration><TopicConfiguration><Topic>arn:aws:sns:::events</Topic>
    <Event>s3:ObjectCreated:*</Event><Event>s3:ObjectRemoved:*</Event></TopicConfiguration></NotificationConfiguration>`
  const buckets = [`webhooks-a-${Date.now()}`, `webhooks-b-${Date.now()}`] as const
  for (const bucket of buckets) {
    await s3('PUT', bucket)
    await s3('PUT', `${bucket}?notification`, rule)
  }
  await s3('PUT', `${buckets[0]}/before`, 'x')
  await owner.create(all.url, ['object.created'])
  await owner.create(some.url, [`bucket/${buckets[1]}/object-created`])
  for (let nth = 0; nth < OBJECTS; nth++) {
    await s3('PUT', `${buckets[nth % 2] ?? ''}/key-${nth}`, 'hello')
    if (nth === OBJECTS / 2) await killWebhooks()
  }
  await s3('DELETE', `${buckets[0]}/key-0`)
  const keysOf = (received: readonly Received[]) => {
    const events = new Map(received.map(({ body }) => [body.event_id, body.data]))
    return [...events.values()].map(({ key }) => String(key)).toSorted()
  }
  const expected = Array.from({ length: OBJECTS }, (_, nth) => `key-${nth}`)
  await until('all objects', () => keysOf(all.received).length >= OBJECTS)
  await pause(1500)
  // A row that is locked has another xmax each time.
  const locks = () =>
    ergon.sql(
      `select w.bucket::text, w.xmax::text from webhook_buckets w join buckets b on b.id = w.bucket
       where b.account = $1 order by w.bucket`,
      [owner.account],
    )
  const before = await locks()
  await pause(2000)
  assert.deepEqual(await locks(), before, 'without news no bucket is locked')
  assert.deepEqual(keysOf(all.received), expected.toSorted())
  assert.deepEqual(keysOf(some.received), expected.filter((_, nth) => nth % 2 === 1).toSorted())
  const [one] = all.received
  assert.deepEqual(Object.keys(one?.body.data ?? {}).toSorted(), [
    'account_id',
    'bucket',
    'etag',
    'key',
    'sequence',
    'size',
    'version_id',
  ])
  assert.equal(one?.body.data['size'], 5)
})

test('sequences of an account have no gap, and each event fits the contract', async () => {
  assert.deepEqual(await bookFaults(sharedErgon()), [])
})
