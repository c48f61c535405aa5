// Workloads of a node on a state of its own, with a driver whose instances start at once.
import { newEncryptionKey } from '#base/encryption.ts'
import { addTestAccount } from '#ledger/test-state.fixture.ts'
import { quiet } from '#postgres/testing.ts'
import { sealVariables } from '#resources/variables.ts'
import type { State } from '#state/connect.ts'
import type { HeldImage, WorkloadDriver } from './driver.ts'
import { createWorkloads, type WorkloadsDeps } from './workloads.ts'

export const ACCOUNT = 'acct_a'
const GIVEN = {
  env_names: [],
  secret_names: [],
  cpu_milli: 100,
  memory_bytes: 1,
  scale_min: 1,
  scale_max: 1,
  target_requests: 50,
  sleep_after_ms: 60_000,
  hosts: [],
  volumes: [],
}
export const { signal } = new AbortController()
export const CONFIG = {
  diffIds: [],
  command: [],
  entrypoint: [],
  env: [],
  folder: '/',
  ports: [8080],
  stopSignal: 'SIGTERM',
}

/** An image that a pull has found on the node. */
export const heldImage = (image: Partial<HeldImage> = {}): HeldImage => ({
  digest: 'sha256:0',
  config: CONFIG,
  word: 'k-0',
  bytes: 1,
  copies: 1,
  ...image,
  [Symbol.dispose]: () => undefined,
})

/** A driver that keeps the versions that run. */
export const driverOf = (running: number[]): WorkloadDriver => ({
  pull: async () => heldImage(),
  has: () => true,
  bytesOf: async () => 0,
  prune: async () => undefined,
  volumes: {
    keep: async () => undefined,
    keepWorkloads: async () => undefined,
    used: async () => new Map(),
    prepare: async () => ({ open: async () => undefined, [Symbol.dispose]: () => undefined }),
    open: async () => undefined,
    lacking: async () => new Map(),
  },
  assertFit: () => undefined,
  async start({ version }) {
    running.push(version)
    return {
      address: 'unix:none',
      cell: 'wl-a-1-1',
      ready: async () => undefined,
      end: async () => void running.splice(running.indexOf(version), 1),
    }
  },
})

/** Workloads of a node with a state of its own; a deployment gives the id of the workload. */
export async function workloadsOn(
  state: State,
  given: Partial<WorkloadsDeps> & { readonly running: number[] },
) {
  await addTestAccount(state, { id: ACCOUNT, env: 'test', lowWater: 0n })
  const key = newEncryptionKey()
  const sealed = sealVariables({}, { kind: 'workload', account: ACCOUNT, environmentKey: key })
  const workloads = createWorkloads({
    state,
    log: quiet,
    environmentKey: key,
    driver: driverOf(given.running),
    line: () => undefined,
    replaced: () => undefined,
    urlOf: (host) => `http://${host}`,
    readyMs: 5000,
    memoryBytes: 1_000_000,
    imageBytesMax: 1_000_000,
    ...given,
  })
  return {
    workloads,
    async deployed(
      image: string,
      name = 'web',
      more: object = {},
      account = ACCOUNT,
    ): Promise<string> {
      const { rows } = await state.query<{ id: string }>(
        "select deploy_workload($1, $4, 'local', 9, 'localhost', $2, $3, 9) as id",
        [
          account,
          JSON.stringify({ ...GIVEN, sealed_env: sealed, sealed_secrets: sealed }),
          JSON.stringify({ image, ...more }),
          name,
        ],
      )
      return rows[0]?.id ?? ''
    },
    deploy: (id: string, name = 'web') =>
      workloads.deploy({ id, account: ACCOUNT, name }, signal, () => undefined),
  }
}
