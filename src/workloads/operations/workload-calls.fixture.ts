// Calls of the operations on workloads, on a state of the file's own, without anything that runs them.
import { newEncryptionKey } from '#base/encryption.ts'
import type { WorkloadReply } from '#contract/workloads/workload-replies.ts'
import type { WorkloadChange } from '#contract/workloads/workloads.ts'
import { createResourceChange, createResourceDeploy } from '#http/resource-operations.ts'
import { ledgerOfFile } from '#ledger/ledger-of-file.fixture.ts'
import { addTestAccount, addTestMember } from '#ledger/test-state.fixture.ts'
import type { State } from '#state/connect.ts'
import type { WorkloadGatewaySettings } from '#workloads/settings.ts'
import { deployWorkload } from './workload-deploy.ts'
import { SHOWN_WORKLOADS } from '#workloads/find-workload.ts'
import { createWorkloadRollBack } from './workload-rollback.ts'
import { createWorkloadUpdate } from './workload-update.ts'

const ACCOUNTS = ['acct_a', 'acct_b', 'acct_many', 'acct_disk', 'acct_grow']
export const BYTES_PER_MB = 1_000_000
export const settings: WorkloadGatewaySettings = {
  address: {
    host: 'functions.localhost',
    origin: 'http://localhost:8082',
    named: 'http://*.functions.localhost:8082',
  },
  environmentKey: newEncryptionKey(),
  region: 'local',
  ownHosts: ['portal.localhost'],
  images: { imageFolder: '/srv/images' },
  volumeBytesMax: 200 * BYTES_PER_MB,
}

export const callOf = (body: object, name = '', account = 'acct_a') =>
  ({
    caller: { account, token: `tok_${account}`, member: `mem_${account}` },
    spend: { requestId: 'req_a' },
    parameters: { workload: name },
    body,
  }) as never
export const replyOf = (made: unknown): WorkloadReply =>
  (made as { body: () => WorkloadReply }).body()

type Given = Partial<WorkloadGatewaySettings> & { readonly account?: string }

/** Opens the state before the tests of the file that calls. */
export function workloadsOfAccounts() {
  let state: State
  ledgerOfFile(2, async (made) => {
    state = made
    for (const id of ACCOUNTS) {
      await addTestAccount(state, { id, env: 'test', lowWater: 0n })
      await addTestMember(state, id)
    }
  })
  const query = async (text: string, ...values: unknown[]) =>
    (await state.query<Record<string, unknown>>(text, values)).rows
  return {
    get state() {
      return state
    },
    query,
    async deploy(
      body: WorkloadChange & { readonly name: string; readonly region?: string },
      given: Given = {},
    ): Promise<WorkloadReply> {
      const deps = { state, settings: { ...settings, ...given } }
      const handle = createResourceDeploy(SHOWN_WORKLOADS, deps, deployWorkload)
      return replyOf(await handle(callOf({ image: 'api:1', ...body }, '', given.account)))
    },
    change: async (name: string, body: WorkloadChange) =>
      replyOf(await createWorkloadUpdate({ state, settings })(callOf(body, name))),
    async rollBack(name: string, body: object, { account, ...more }: Given = {}) {
      const deps = { state, settings: { ...settings, ...more } }
      const turn = createWorkloadRollBack(deps.settings)
      const handle = createResourceChange(SHOWN_WORKLOADS, deps, turn)
      return await handle(callOf(body, name, account))
    },
    /** As the reconciler does. */
    async makeLive({ id, version }: WorkloadReply): Promise<void> {
      await query('select hold_volume_sizes($1, $2)', id, version)
      await query('select make_workload_live($1, $2, $3)', id, version, 'http://x')
      await query(
        "select move_resource(id, 'deploying') from resources where id = $1 and actual = 'pending'",
        id,
      )
      await query("select move_resource($1, 'deployed')", id)
    },
  }
}
