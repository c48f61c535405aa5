// Buckets that deployments remove with their objects, piece by piece.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemClock } from '#base/clock.ts'
import { present } from '#base/errors.ts'
import { createDocuments } from '#objects/documents.ts'
import { createObjects } from '#objects/create-objects.ts'
import { BUCKET_COLUMNS, toBucket, type BucketRow } from '#objects/rows.ts'
import { attributes } from '#objects/store.fixture.ts'
import { whyNoState } from '#postgres/testing-url.ts'
import { ACCOUNT, bucketOf, cancelDeployment, faultOf, stacksOfFile } from './stacks.fixture.ts'
import { giveUp } from './take-turn.ts'

const skip = whyNoState()
const { state, ask, read, turn, deploy, bucketIds } = stacksOfFile()

/** Deploys a bucket with objects, and asks for a deployment that removes the bucket. */
async function askRemoval(name: string, count: number): Promise<string> {
  assert.equal((await deploy(name, bucketOf(name))).status, 'done')
  const { rows } = await state().query<BucketRow>(
    `select ${BUCKET_COLUMNS} from buckets b where b.name = $1`,
    [name],
  )
  const bucket = toBucket(present(rows[0], 'it was deployed'), {})
  const [finds, puts, documents] = [state(), state(), createDocuments({ state: state() })]
  const objects = createObjects({ state: state(), finds, puts, documents, clock: systemClock })
  const body = { kind: 'inline', bytes: Buffer.from('x') } as const
  for (let nth = 0; nth < count; nth++) {
    const key = `k${String(nth).padStart(3, '0')}`
    await objects.put(bucket, key, { attributes: attributes('e', 1), body })
  }
  return (await ask({ stack: name, description: '', allow_delete: true })).id
}

const versions = async () =>
  (await state().query<{ count: number }>('select count(*)::int from object_versions')).rows[0]
    ?.count

test(
  'a bucket whose last object cannot be read ends its deployment, which has removed nothing',
  { skip },
  async () => {
    const id = await askRemoval('damaged', 101)
    // As PostgreSQL says of a page whose checksum is wrong.
    await state().query(`
      create function refuse_page() returns trigger language plpgsql as $$ begin
        raise exception 'invalid page in block 7' using errcode = 'XX001';
      end $$;
      create trigger damaged before delete on object_versions for each row
        when (old.key = 'k100') execute function refuse_page()`)
    for (let turns = 0; turns < 4; turns++) await turn(id)
    const ended = await read(id)
    await state().query('drop trigger damaged on object_versions')
    assert.deepEqual([ended.status, faultOf(ended)?.code], ['failed', 'internal'])
    assert.equal(await versions(), 101)
    await state().query('delete from object_versions')
  },
)

test(
  'a deployment that is cancelled between two pieces of a removal says that it is partly made',
  { skip },
  async () => {
    const id = await askRemoval('pieces', 2)
    await turn(id)
    assert.equal(await versions(), 0)
    assert.equal((await read(id)).steps[0]?.status, 'running')
    const ended = await cancelDeployment(state(), id)
    assert.deepEqual([ended.status, ended.steps[0]?.status], ['cancelled', 'failed'])
    const fault = faultOf(ended)
    assert.equal(fault?.code, 'deployment_cancelled')
    assert.match(fault.message, /: the change has begun and is partly made$/)
    const { rows } = await state().query(
      "select details from audit_entries where action = 'deployment.cancel'",
    )
    assert.deepEqual(rows, [{ details: { stack: 'pieces', done: [], begun: ['bucket.pieces'] } }])
    assert.equal(await turn(id), 'waits')
    assert.equal((await bucketIds('pieces')).length, 1)
    assert.equal((await deploy('pieces', '', { allow_delete: true })).status, 'done')
    assert.deepEqual(await bucketIds('pieces'), [])
  },
)

test(
  'a removal in pieces ends with the right of its token, or with the funds, and is not taken for undone',
  { skip },
  async () => {
    const ofToken = await askRemoval('rightless', 2)
    await turn(ofToken)
    await state().query('update tokens set revoked_at = now() where account = $1', [ACCOUNT])
    while ((await turn(ofToken)) === 'changed');
    await state().query('update tokens set revoked_at = null where account = $1', [ACCOUNT])
    const ended = await read(ofToken)
    assert.deepEqual([ended.status, faultOf(ended)?.code], ['failed', 'token_revoked'])
    assert.match(faultOf(ended)?.message ?? '', /partly made/)
    const unpaid = await askRemoval('unpaid', 2)
    await turn(unpaid)
    await giveUp(state(), unpaid, { code: 'balance_depleted', message: 'Could not pay' })
    assert.deepEqual(faultOf(await read(unpaid))?.code, 'balance_depleted')
  },
)

test('a removal that has begun goes on to its end where another step fails', { skip }, async () => {
  const id = await askRemoval('seen-through', 2)
  await turn(id)
  await state().query(
    `insert into deployment_steps (deployment, place, address, kind, name, action, changes, notes, needs, status)
       values ($1, 99, 'bucket.other', 'bucket', 'other', 'create', '[]', '[]', '{}', 'failed')`,
    [id],
  )
  while ((await turn(id)) === 'changed');
  const ended = await read(id)
  assert.deepEqual([ended.status, ended.steps[0]?.status], ['failed', 'done'])
  assert.deepEqual(await bucketIds('seen-through'), [])
})
