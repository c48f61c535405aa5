// Deployments on a state of their own, with the parts of products, and a turn whenever a test takes one.
import { present } from '#base/errors.ts'
import { newEncryptionKey } from '#base/encryption.ts'
import type { Logger } from '#base/log.ts'
import {
  parseDeploymentRequest,
  type DeploymentPlan,
  type DeploymentReply,
} from '#contract/deployments/deployments.ts'
import { createDeploymentCancel } from '#deployments/operations/deployment-cancel.ts'
import { createDeploymentCreate } from '#deployments/operations/deployment-create.ts'
import { deploymentReplyOf, deploymentSteps, findDeployment } from '#deployments/rows.ts'
import { ledgerOfFile } from '#ledger/ledger-of-file.fixture.ts'
import { addTestAccount, addTestMember } from '#ledger/test-state.fixture.ts'
import { openStackParts } from '#processes/stack-parts.ts'
import type { State } from '#state/connect.ts'
import { takeTurn } from './take-turn.ts'

export const ACCOUNT = 'acct_a'
export const key = newEncryptionKey()
export const parts = openStackParts({
  secret: key,
  settings: {
    storage: {
      storage: { region: 'local', bucketsMax: 50, keyIds: [], acls: false, encrypts: true },
    },
    functions: {
      address: {
        host: 'functions.localhost',
        origin: 'http://localhost:8082',
        named: 'http://*.functions.localhost:8082',
      },
      runtimes: ['node24'],
      environmentKey: newEncryptionKey(),
      region: 'local',
      ownHosts: [],
    },
    ingress: { ownHosts: ['portal.localhost'] },
    webhooks: { isOn: true, networks: [] },
  },
})
const nothing = () => undefined
export const log: Logger = { debug: nothing, info: nothing, warn: nothing, error: nothing }

export const bucketOf = (name: string) => `bucket "${name}" {\n}\n`
export const faultOf = ({ steps }: DeploymentReply) => steps.find(({ fault }) => fault)?.fault
export const SLOW = { files: { 'f.mjs': { file: 'f.mjs', source: 'export default 1' } } }
export const functionOf = (name: string) => `function "${name}" {\n  file = "f.mjs"\n}\n`

/** The owner of the account. */
export const OWNER = {
  caller: { account: ACCOUNT, token: `tok_${ACCOUNT}`, member: `mem_${ACCOUNT}` },
  spend: { requestId: 'req_a', mark: nothing, admit: nothing, finish: nothing },
}

export async function cancelDeployment(state: State, id: string): Promise<DeploymentReply> {
  const call = { ...OWNER, parameters: { deployment: id } } as never
  const ended = await createDeploymentCancel({ state })(call)
  return (ended as unknown as { body: () => DeploymentReply }).body()
}

/** For the tests of a file. */
export function stacksOfFile() {
  let state: State
  ledgerOfFile(4, async (made) => {
    state = made
    await addTestAccount(made, { id: ACCOUNT, env: 'test', lowWater: 0n })
    await addTestMember(made, ACCOUNT)
  })

  /** The plan of a dry run, or the deployment before its first turn. */
  async function ask<Reply = DeploymentReply>(body: object, owner: object = {}): Promise<Reply> {
    const made = await createDeploymentCreate({ state, parts, key })({
      ...OWNER,
      ...owner,
      parameters: {},
      body: parseDeploymentRequest(body),
    } as never)
    return (made as unknown as { body: () => Reply }).body()
  }

  async function read(id: string): Promise<DeploymentReply> {
    const row = await findDeployment(state, ACCOUNT, id)
    return deploymentReplyOf(row, await deploymentSteps(state, id))
  }

  const turn = (id: string) => takeTurn({ state, parts, key, log }, id)

  /** Takes turns until it has ended, or waits for what only a reconciler brings about. */
  async function follow({ id }: { id: string }): Promise<DeploymentReply> {
    while ((await turn(id)) === 'changed');
    return await read(id)
  }

  const deploy = async (stack: string, description: string, more: object = {}) =>
    await follow(await ask({ stack, description, ...more }))

  /** In the plan. */
  const changesOf = async (stack: string, description: string): Promise<number> =>
    (await ask<DeploymentPlan>({ stack, description, dry_run: true, ...SLOW })).changes

  const deleteByHand = (name: string) => state.query('delete from buckets where name = $1', [name])
  const bucketIds = async (name: string) =>
    (await state.query<{ id: string }>('select id::text from buckets where name = $1', [name])).rows

  const functionRow = async (name: string) => {
    const { rows } = await state.query<{ id: string; version: number; revision: string }>(
      'select id, version, revision::text from resources where name = $1',
      [name],
    )
    return present(rows[0], 'it was deployed')
  }
  /** As its reconciler does where the wanted version starts. */
  async function start(name: string): Promise<void> {
    const { id, version, revision } = await functionRow(name)
    await state.query('select make_function_live($1, $2)', [id, version])
    await state.query(
      "select move_resource($1, 'deploying') from resources where id = $1 and actual = 'pending'",
      [id],
    )
    await state.query("select move_resource($1, 'deployed', null, $2)", [id, revision])
  }
  return {
    state: () => state,
    ask,
    read,
    turn,
    follow,
    deploy,
    changesOf,
    deleteByHand,
    bucketIds,
    functionRow,
    start,
  }
}
