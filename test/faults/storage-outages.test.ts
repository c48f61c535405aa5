// Object storage while the state ends, is killed or is silent. Each request has its answer or a 503 in time. Afterwards
// finds, puts and lists go on over new connections, whose statements must be prepared anew.
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import {
  CreateBucketCommand,
  GetObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
  S3ServiceException,
} from '@aws-sdk/client-s3'
import { signalProcess } from '#cells/stop.ts'
import { product, sharedErgon } from '../product.ts'
import { METERED } from '../settings.ts'
import type { Ergon } from '../start-ergon.ts'
import { childrenOf, readyProgramOf } from './processes.ts'

product(METERED)

const Bucket = 'outages'
const FIRST = 'first'
// A query waits 15 s for a connection and 35 s for its answer; the rest is for a busy machine.
const ANSWER_MAX_MS = 60_000
const RECOVERY_MAX_MS = 90_000
const AT_ONCE = 3
let ergon: Ergon
let s3: S3Client
let last = 0
/** Keys whose puts were answered with 200. */
const kept: string[] = [FIRST]

before(async () => {
  ergon = sharedErgon()
  s3 = new S3Client({
    endpoint: ergon.baseUrl,
    region: 'local',
    forcePathStyle: true,
    maxAttempts: 1,
    credentials: { accessKeyId: ergon.token, secretAccessKey: ergon.token },
  })
  await eventually(() => s3.send(new CreateBucketCommand({ Bucket })))
  await eventually(() => s3.send(new PutObjectCommand({ Bucket, Key: FIRST, Body: FIRST })))
})

const KINDS: Readonly<Record<string, () => Promise<unknown>>> = {
  async find() {
    const { Body } = await s3.send(new GetObjectCommand({ Bucket, Key: FIRST }))
    assert.equal(await Body?.transformToString(), FIRST)
  },
  async put() {
    const Key = `k${last++}`
    await s3.send(new PutObjectCommand({ Bucket, Key, Body: Key }))
    kept.push(Key)
  },
  async list() {
    const { Contents = [] } = await s3.send(new ListObjectsV2Command({ Bucket }))
    assert.ok(Contents.some(({ Key }) => Key === FIRST))
  },
}

/** True for a success, false for a 503 with its code; throws any other error, and where there is no answer in time. */
async function answered(ask: () => Promise<unknown>): Promise<boolean> {
  const stop = new AbortController()
  const late = pause(ANSWER_MAX_MS, undefined, { signal: stop.signal }).then(() => {
    throw new Error(`no answer within ${ANSWER_MAX_MS} ms`)
  })
  try {
    await Promise.race([ask(), late])
    return true
  } catch (error) {
    if (!(error instanceof S3ServiceException)) throw error
    const { httpStatusCode } = error.$metadata
    assert.deepEqual([httpStatusCode, error.name], [503, 'ServiceUnavailable'], String(error))
    assert.ok(error.$response?.headers['retry-after'], 'a 503 says when to ask again')
    return false
  } finally {
    stop.abort()
    await late.catch(() => undefined)
  }
}

async function eventually(ask: () => Promise<unknown>): Promise<void> {
  const lastMs = performance.now() + RECOVERY_MAX_MS
  while (!(await answered(ask))) {
    assert.ok(performance.now() < lastMs, 'it does not come to succeed')
    await pause(50)
  }
}

/** Asks for each kind all the time while something happens, and until each succeeds afterwards. */
async function during(happens: () => Promise<void>): Promise<{ refused: number }> {
  let isOver = false
  let refused = 0
  const askers = Object.values(KINDS).flatMap((ask) =>
    Array.from({ length: AT_ONCE }, async () => {
      while (!isOver) if (!(await answered(ask))) refused++
      await eventually(ask)
    }),
  )
  await happens().finally(() => (isOver = true))
  await Promise.all(askers)
  for (const Key of kept) {
    const { Body } = await s3.send(new GetObjectCommand({ Bucket, Key }))
    assert.equal(await Body?.transformToString(), Key)
  }
  return { refused }
}

const stateProgram = () => readyProgramOf(ergon, 'postgres')

for (const [signal, how] of [
  ['SIGINT', 'ends'],
  ['SIGKILL', 'is killed'],
] as const)
  test(`finds, puts and lists go on after the state ${how}`, async () => {
    const pid = await stateProgram()
    const { refused } = await during(async () => {
      process.kill(pid, signal)
      const lastMs = performance.now() + RECOVERY_MAX_MS
      while ((await stateProgram()) === pid) {
        assert.ok(performance.now() < lastMs, 'the state is not started again')
        await pause(50)
      }
    })
    assert.ok(refused > 0, 'the state was away')
  })

test('finds, puts and lists are refused while the state is silent, and go on afterwards', async () => {
  const pid = await stateProgram()
  const { refused } = await during(async () => {
    const pids = [pid, ...childrenOf(pid)]
    for (const one of pids) signalProcess(one, 'SIGSTOP')
    try {
      const lastMs = performance.now() + RECOVERY_MAX_MS
      for (const ask of Object.values(KINDS))
        while (await answered(ask)) {
          assert.ok(performance.now() < lastMs, 'a request succeeds without the state')
          await pause(50)
        }
    } finally {
      for (const one of pids) signalProcess(one, 'SIGCONT')
    }
  })
  assert.ok(refused > 0, 'the state was away')
})
