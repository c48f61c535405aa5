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
import { bucketOf, faultOf, stacksOfFile } from './stacks.fixture.ts'

const skip = whyNoState()
const { state, ask, read, turn, deploy } = stacksOfFile()

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
