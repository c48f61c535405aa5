// Images at rest: who pays for them, and how many bytes an account may have.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { imageBeyondQuota } from '#images/quota-fault.ts'
import { openLedgerState } from '#ledger/test-state.fixture.ts'
import { quiet } from '#postgres/testing.ts'
import { openTestUrl, whyNoState } from '#postgres/testing-url.ts'
import { createTrials } from '#resources/trials.ts'
import type { Queryable, State } from '#state/connect.ts'
import { createImageMeasures, noteImageWords } from './image-rows.ts'
import type { WorkloadDriver } from './driver.ts'
import { pulledOf } from './pulled.ts'
import type { WorkloadVersion } from './read-version.ts'
import { ACCOUNT, CONFIG, driverOf, heldImage, signal, workloadsOn } from './workloads.fixture.ts'

const skip = whyNoState()
const MOST = 1_000_000_000

/** Gives a version an image of so many bytes: null, or the bytes of the other images where there is no room. */
async function keep(state: State, version: [string, number], word: string, bytes: number) {
  const { rows } = await state.query<{ others: string | null }>(
    "select keep_image($1, $2, $3, $4, $5, $6, $7, '{}')::text as others",
    [...version, `sha256:${word}`, CONFIG, word, bytes, MOST],
  )
  return rows[0]?.others
}

async function imagesOf(state: State) {
  const { rows } = await state.query<{ workload: string; word: string; bytes: number }>(
    'select workload, word, bytes::int as bytes from account_images($1) order by word',
    [ACCOUNT],
  )
  return rows.map(({ workload, word, bytes }) => [workload, word, bytes])
}

/** The bytes that each workload is charged for. */
async function chargedBytes(state: State, ids: readonly string[]) {
  const { rows } = await state.query<{ bytes: number }>(
    'select bytes::int as bytes from image_look(60000, $1, 1) order by id',
    [ids],
  )
  return rows.map(({ bytes }) => bytes)
}

test(
  'an account is charged for each of its images once, until its workloads are deleted',
  { skip },
  async () => {
    await using url = await openTestUrl()
    await using state = await openLedgerState(url.of, 2)
    const { workloads, deployed } = await workloadsOn(state, { running: [] })
    const first = await deployed('one', 'a')
    const second = await deployed('one', 'b')
    const ids = [first, second].toSorted()
    assert.equal(await keep(state, [first, 1], 'k-1', 300), null)
    assert.equal(await keep(state, [second, 1], 'k-1', 300), null)
    assert.deepEqual(await imagesOf(state), [[ids[0], 'k-1', 300]])
    assert.deepEqual(await chargedBytes(state, ids), [300, 0])
    await deployed('two', 'b')
    assert.equal(await keep(state, [second, 2], 'k-2', 50), null)
    const both = await chargedBytes(state, ids)
    assert.deepEqual(both.toSorted(), second === ids[1] ? [300, 50] : [0, 350])
    // The deletion of a workload leaves its dues for a last charge; the other workload has the image from then on.
    await state.query("update standing_samples set due_zj = 2e12 where kind = 'image'")
    await state.query('select delete_workload($1)', [ids[0]])
    await state.query('select remove_workload($1)', [ids[0]])
    const { rows } = await state.query(
      "select from standing_samples where kind = 'image' and account is not null",
    )
    assert.equal(rows.length, 1)
    assert.equal(
      (await imagesOf(state)).every(([workload]) => workload === ids[1]),
      true,
    )
    workloads.close()
  },
)

test(
  'images beyond the quota are refused after those of old versions have gone',
  { skip },
  async () => {
    await using url = await openTestUrl()
    await using state = await openLedgerState(url.of, 2)
    const { workloads, deployed } = await workloadsOn(state, { running: [] })
    const web = await deployed('one', 'web')
    assert.equal(await keep(state, [web, 1], 'k-1', MOST / 2), null)
    await deployed('two', 'web')
    assert.equal(await keep(state, [web, 2], 'k-2', MOST / 4), null)
    await state.query("select make_workload_live($1, 2, 'url')", [web])
    await deployed('three', 'web')
    const room = async (version: number) => {
      const { rows } = await state.query<{ bytes: number }>(
        "select image_room($1, $2, $3, '{}')::int as bytes",
        [web, version, MOST],
      )
      return rows[0]?.bytes
    }
    // The first version is neither wanted nor live: its image goes for another.
    assert.equal(await room(3), (MOST * 3) / 4)
    assert.equal(await keep(state, [web, 3], 'k-3', (MOST * 3) / 4 + 1), String(MOST / 4))
    assert.equal(await keep(state, [web, 3], 'k-3', MOST / 2), null)
    assert.deepEqual(
      (await imagesOf(state)).map(([, word]) => word),
      ['k-2', 'k-3'],
    )
    // Another workload finds no room, but where it has the same image.
    const other = await deployed('four', 'other')
    assert.equal(await keep(state, [other, 1], 'k-4', MOST / 2), String((MOST * 3) / 4))
    assert.equal(await keep(state, [other, 1], 'k-3', MOST / 2), null)
    // The first version has its digest still: a rollback pulls the same bytes.
    const { rows } = await state.query(
      'select digest from workload_versions where workload = $1 and version = 1',
      [web],
    )
    assert.deepEqual(rows, [{ digest: 'sha256:k-1' }])
    workloads.close()
  },
)

test(
  'a version whose image has no room fails with the bytes that there are',
  { skip },
  async () => {
    await using url = await openTestUrl()
    await using state = await openLedgerState(url.of, 2)
    const rooms: number[] = []
    const driver: WorkloadDriver = {
      ...driverOf([]),
      has: () => false,
      async pull({ roomBytes }) {
        rooms.push(roomBytes)
        return heldImage({ bytes: 3_000_000 })
      },
    }
    const given = { running: [], driver, imageBytesMax: 2_000_000 }
    const { workloads, deployed, deploy } = await workloadsOn(state, given)
    const id = await deployed('one')
    assert.equal(await deploy(id), 'failed')
    const { rows } = await state.query(
      'select failure from resource_versions where resource = $1',
      [id],
    )
    assert.deepEqual(rows, [
      {
        failure:
          'Could not keep the image "one": it takes 3 MB, and the images of the account may have 2 MB more',
      },
    ])
    assert.deepEqual(rooms, [2_000_000])
    workloads.close()
  },
)

test(
  'a replaced version has its image while its instance answers, which ends first where another image needs the room',
  { skip },
  async () => {
    await using url = await openTestUrl()
    await using state = await openLedgerState(url.of, 2)
    const running: number[] = []
    /** That of a pull is what there is once the instances of a replaced version have ended. */
    const rooms: number[] = []
    const plain = driverOf(running)
    const driver: WorkloadDriver = {
      ...plain,
      has: () => true,
      async pull({ image, roomBytes }) {
        if (image === 'three') rooms.push(roomBytes)
        return heldImage({ digest: `sha256:${image}`, word: `k-${image}`, bytes: 400 })
      },
    }
    const given = { running, driver, imageBytesMax: 1000 }
    const { workloads, deployed, deploy } = await workloadsOn(state, given)
    const web = await deployed('one', 'web')
    assert.equal(await deploy(web), undefined)
    // A request that goes on.
    await workloads.use({ id: web, account: ACCOUNT, name: 'web' }, signal, 1)
    await deployed('two', 'web')
    assert.equal(await deploy(web), undefined)
    assert.deepEqual(running, [1, 2])
    const other = await deployed('three', 'other')
    assert.equal(await deploy(other, 'other'), undefined)
    assert.deepEqual(rooms, [600])
    assert.deepEqual(running, [2, 1])
    assert.deepEqual(
      (await imagesOf(state)).map(([, word]) => word),
      ['k-three', 'k-two'],
    )
    workloads.close()
  },
)

/** A driver whose images have so many bytes, and whose pulls end at their room; the rooms of its pulls by image. */
function sizedDriver(running: number[], bytesOf: Readonly<Record<string, number>>) {
  const rooms: (readonly [image: string, roomBytes: number])[] = []
  const driver: WorkloadDriver = {
    ...driverOf(running),
    async pull({ image, roomBytes }) {
      rooms.push([image, roomBytes])
      const bytes = bytesOf[image] ?? 0
      if (bytes > roomBytes) throw imageBeyondQuota(image, { roomBytes })
      return heldImage({ digest: `sha256:${image}`, word: `k-${image}`, bytes })
    },
  }
  return { driver, rooms }
}

test(
  'an image that has no room without those of replaced versions ends no instance, and is fetched once',
  { skip },
  async () => {
    await using url = await openTestUrl()
    await using state = await openLedgerState(url.of, 2)
    const running: number[] = []
    const { driver, rooms } = sizedDriver(running, { one: 400, two: 400, large: 601 })
    const given = { running, driver, imageBytesMax: 1000 }
    const { workloads, deployed, deploy } = await workloadsOn(state, given)
    const web = await deployed('one', 'web')
    assert.equal(await deploy(web), undefined)
    await workloads.use({ id: web, account: ACCOUNT, name: 'web' }, signal, 1)
    await deployed('two', 'web')
    assert.equal(await deploy(web), undefined)
    const other = await deployed('large', 'other')
    assert.equal(await deploy(other, 'other'), 'failed')
    assert.deepEqual(running, [1, 2])
    assert.deepEqual(rooms.slice(2), [['large', 600]])
    workloads.close()
  },
)

test(
  'another pull of the account does not wait for the end of an instance that gives its image up',
  { skip },
  async () => {
    await using url = await openTestUrl()
    await using state = await openLedgerState(url.of, 2)
    const running: number[] = []
    const ends = Promise.withResolvers<void>()
    const ending = Promise.withResolvers<void>()
    const sized = sizedDriver(running, { one: 400, two: 400, three: 500, small: 50 })
    const driver: WorkloadDriver = {
      ...sized.driver,
      async start(...given) {
        const started = await sized.driver.start(...given)
        return {
          ...started,
          async end(cause) {
            ending.resolve()
            await ends.promise
            await started.end(cause)
          },
        }
      },
    }
    const given = { running, driver, imageBytesMax: 1000 }
    const { workloads, deployed, deploy } = await workloadsOn(state, given)
    const web = await deployed('one', 'web')
    assert.equal(await deploy(web), undefined)
    await workloads.use({ id: web, account: ACCOUNT, name: 'web' }, signal, 1)
    await deployed('two', 'web')
    assert.equal(await deploy(web), undefined)
    const third = deploy(await deployed('three', 'third'), 'third')
    await ending.promise
    const further = deploy(await deployed('small', 'further'), 'further')
    const reached = await Promise.race([further, pause(10_000, 'held up')])
    ends.resolve()
    assert.deepEqual([reached, await third, await further], [undefined, undefined, undefined])
    workloads.close()
  },
)

test(
  'images of before are noted by their words, and measured one after the other',
  { skip },
  async () => {
    await using url = await openTestUrl()
    await using state = await openLedgerState(url.of, 2)
    const { workloads, deployed } = await workloadsOn(state, { running: [] })
    for (const name of ['a', 'b', 'gone']) await deployed(name, name)
    await state.query("update workload_versions set digest = 'sha256:00'")
    const driver = {
      ...driverOf([]),
      has: ({ image }: { image: string }) => image !== 'gone',
      bytesOf: async () => 70,
    }
    await noteImageWords({ state, driver })
    const measures = createImageMeasures({ state, driver, log: quiet })
    for (let nth = 0; nth < 4; nth++) {
      measures.begin(signal)
      await measures.idle()
    }
    const images = await imagesOf(state)
    assert.deepEqual(
      images.map(([, , bytes]) => bytes),
      [70, 70],
    )
    workloads.close()
  },
)

test(
  'an image that cannot be measured holds up neither the care of workloads nor other images',
  { skip },
  async () => {
    await using url = await openTestUrl()
    await using state = await openLedgerState(url.of, 2)
    const asked: string[] = []
    const hangs = Promise.withResolvers<number>()
    const driver: WorkloadDriver = {
      ...driverOf([]),
      async bytesOf({ image }) {
        asked.push(image)
        return asked.length === 1 ? await hangs.promise : 70
      },
    }
    const { workloads, deployed } = await workloadsOn(state, { running: [], driver })
    for (const name of ['a', 'b']) await deployed(name, name)
    await state.query(
      "update workload_versions set digest = 'sha256:0', image_word = 'k-' || image",
    )
    // No call waits for the image that hangs.
    for (let nth = 0; nth < 3; nth++) await workloads.tend(signal)
    hangs.reject(new Error('du takes too long'))
    for (let nth = 0; nth < 2; nth++) {
      await workloads.idle()
      await workloads.tend(signal)
    }
    await workloads.idle()
    assert.equal(new Set(asked).size, 2)
    assert.deepEqual((await imagesOf(state)).map(([, , bytes]) => bytes).includes(70), true)
    workloads.close()
  },
)

test(
  'a start gives no version back the image that the version has given up',
  { skip },
  async () => {
    await using url = await openTestUrl()
    await using state = await openLedgerState(url.of, 2)
    const { workloads, deployed } = await workloadsOn(state, { running: [] })
    const web = await deployed('one', 'web')
    await keep(state, [web, 1], 'k-1', MOST)
    await deployed('two', 'web')
    await state.query("select make_workload_live($1, 2, 'url')", [web])
    await keep(state, [web, 2], 'k-2', MOST)
    await noteImageWords({ state, driver: driverOf([]) })
    assert.deepEqual(await imagesOf(state), [[web, 'k-2', MOST]])
    workloads.close()
  },
)

test('a version of a file that has another image now is refused with both digests', async () => {
  const written: string[] = []
  const state = {
    async query(text: string) {
      written.push(text)
      return { rows: [] }
    },
  } as unknown as Queryable
  const version = {
    id: 'wl_a',
    version: 3,
    image: 'oci:/srv/one',
    digest: 'sha256:old',
    imageWord: null,
  }
  const instances = { running: () => [], stop: async () => undefined }
  const pulls = createTrials()
  const deps = { state, log: quiet, driver: driverOf([]), imageBytesMax: 1, instances, pulls }
  await assert.rejects(pulledOf(deps, version as WorkloadVersion, signal), {
    code: 'image_not_found',
    message:
      'Could not find the image oci:/srv/one of version 3, sha256:old: the file has sha256:0 now',
  })
  assert.equal(written.filter((text) => text.includes('keep_image')).length, 0)
})
