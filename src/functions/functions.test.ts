// Deployments of a function on a state of its own, with a driver whose instances start at once.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { encrypt, newEncryptionKey } from '#base/encryption.ts'
import { Secret } from '#base/log.ts'
import { addTestAccount, openLedgerState } from '#ledger/test-state.fixture.ts'
import { quiet } from '#postgres/testing.ts'
import { openTestUrl, whyNoState } from '#postgres/testing-url.ts'
import type { Queryable } from '#state/connect.ts'
import { createFunctions } from './functions.ts'
import { environmentPurpose } from './settings.ts'

const ACCOUNT = 'acct_a'
const { signal } = new AbortController()

test(
  'a new version answers, and the one before ends, also where the answer of the state was lost',
  { skip: whyNoState() },
  async () => {
    await using url = await openTestUrl()
    await using state = await openLedgerState(url.of, 2)
    await addTestAccount(state, { id: ACCOUNT, env: 'test', lowWater: 0n })
    const key = newEncryptionKey()
    const deployed = async (): Promise<string> => {
      const wanted = {
        route: '/hello',
        runtime: 'node24',
        memory_bytes: 1,
        timeout_s: 5,
        env_names: [],
        sealed_env: encrypt(new Secret('{}'), new Secret(key), environmentPurpose(ACCOUNT)),
        file: 'hello.js',
        source: '',
        buckets: [],
        schedule: null,
        concurrency: null,
      }
      const { rows } = await state.query<{ id: string }>(
        "select deploy_function($1, 'hello', 'local', 9, '{}', $2, 9) as id",
        [ACCOUNT, JSON.stringify(wanted)],
      )
      return rows[0]?.id ?? ''
    }
    let isLost = false
    const losing: Queryable = {
      async query(text, values) {
        const answer = await state.query(text, values)
        if (isLost && text.includes('make_function_live')) throw new Error('the answer is lost')
        return answer as never
      },
    }
    const running: number[] = []
    let replacedCount = 0
    const functions = createFunctions({
      state: losing,
      log: quiet,
      environmentKey: key,
      idleMs: 60_000,
      replaced: () => void replacedCount++,
      driver: {
        async start({ version }) {
          running.push(version)
          return {
            address: 'unix:none',
            concurrency: 1,
            ready: async () => undefined,
            unblock: async () => undefined,
            end: async () => void running.splice(running.indexOf(version), 1),
          }
        },
      },
    })
    const id = await deployed()
    const resource = { id, account: ACCOUNT, name: 'hello' }
    const deploy = () => functions.deploy(resource, signal, () => undefined)
    assert.equal(await deploy(), undefined)
    await deployed()
    isLost = true
    await assert.rejects(deploy(), /the answer is lost/)
    assert.deepEqual(running, [1, 2])
    isLost = false
    replacedCount = 0
    assert.equal(await deploy(), undefined)
    assert.ok(replacedCount > 0)
    for (let nth = 0; running.length > 1 && nth < 200; nth++) await pause(10)
    assert.deepEqual(running, [2])
    functions.close()
  },
)
