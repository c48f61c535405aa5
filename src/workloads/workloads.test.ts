// Deployments of a workload on a state of its own, with a driver whose instances start at once.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { encrypt, newEncryptionKey } from '#base/encryption.ts'
import { Secret } from '#base/log.ts'
import { addTestAccount, openLedgerState } from '#ledger/test-state.fixture.ts'
import { quiet } from '#postgres/testing.ts'
import { openTestUrl, whyNoState } from '#postgres/testing-url.ts'
import type { Queryable } from '#state/connect.ts'
import type { WorkloadDriver } from './driver.ts'
import { workloadPurpose } from './settings.ts'
import { createWorkloads } from './workloads.ts'

const ACCOUNT = 'acct_a'
const { signal } = new AbortController()
const CONFIG = {
  diffIds: [],
  command: [],
  entrypoint: [],
  env: [],
  folder: '/',
  ports: [8080],
  stopSignal: 'SIGTERM',
}

/** A driver that keeps the versions that run. */
const driverOf = (running: number[]): WorkloadDriver => ({
  pull: async () => ({ digest: 'sha256:0', config: CONFIG }),
  has: () => true,
  prune: async () => undefined,
  async start({ version }) {
    running.push(version)
    return {
      address: 'unix:none',
      ready: async () => undefined,
      end: async () => void running.splice(running.indexOf(version), 1),
    }
  },
})

test(
  'a new version answers, and the one before ends, also where the answer of the state was lost',
  { skip: whyNoState() },
  async () => {
    await using url = await openTestUrl()
    await using state = await openLedgerState(url.of, 2)
    await addTestAccount(state, { id: ACCOUNT, env: 'test', lowWater: 0n })
    const key = newEncryptionKey()
    const sealed = encrypt(new Secret('{}'), new Secret(key), workloadPurpose(ACCOUNT))
    const deployed = async (image: string): Promise<string> => {
      const given = {
        env_names: [],
        secret_names: [],
        sealed_env: sealed,
        sealed_secrets: sealed,
        cpu_milli: 100,
        memory_bytes: 1,
        scale_min: 1,
        scale_max: 1,
        target_requests: 50,
        sleep_after_ms: 60_000,
        hosts: [],
      }
      const { rows } = await state.query<{ id: string }>(
        "select deploy_workload($1, 'web', 'local', 9, 'localhost', $2, $3, 9) as id",
        [ACCOUNT, JSON.stringify(given), JSON.stringify({ image })],
      )
      return rows[0]?.id ?? ''
    }
    let isLost = false
    const losing: Queryable = {
      async query(text, values) {
        const answer = await state.query(text, values)
        if (isLost && text.includes('make_workload_live')) throw new Error('the answer is lost')
        return answer as never
      },
    }
    const running: number[] = []
    let replacedCount = 0
    const workloads = createWorkloads({
      state: losing,
      log: quiet,
      environmentKey: key,
      driver: driverOf(running),
      line: () => undefined,
      replaced: () => void replacedCount++,
      urlOf: (host) => `http://${host}`,
      readyMs: 5000,
      memoryBytes: 1_000_000,
    })
    const id = await deployed('one')
    const resource = { id, account: ACCOUNT, name: 'web' }
    const deploy = () => workloads.deploy(resource, signal, () => undefined)
    assert.equal(await deploy(), undefined)
    await deployed('two')
    isLost = true
    await assert.rejects(deploy(), /the answer is lost/)
    assert.deepEqual(running, [1, 2])
    isLost = false
    replacedCount = 0
    assert.equal(await deploy(), undefined)
    assert.ok(replacedCount > 0)
    for (let nth = 0; running.length > 1 && nth < 200; nth++) await pause(10)
    assert.deepEqual(running, [2])
    workloads.close()
  },
)
