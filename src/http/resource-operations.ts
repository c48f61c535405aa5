// The operations that every kind of resource has: a deployment, the list, and reads, changes and the deletion by id or name.
import type { ActingCall } from '#identity/audit.ts'
import { callerOf } from '#identity/principal.ts'
import { deleteResource } from '#resources/delete-resource.ts'
import type { ShownResource, ShownResources } from '#resources/shown-resources.ts'
import type { Queryable, State } from '#state/connect.ts'
import { once } from './once.ts'
import { known, type OperationCall, type Handler } from './reply.ts'

type Deps<Settings> = { readonly state: State; readonly settings: Settings }
type ReadDeps<Settings> = { readonly state: Queryable; readonly settings: Settings }

/** The resource that the path names. Throws the error of one that is not there. */
export const askedResource = <Row, Settings>(
  { kind, find }: Pick<ShownResources<Row, Settings>, 'kind' | 'find'>,
  state: Queryable,
  { caller, parameters }: Pick<OperationCall, 'caller' | 'parameters'>,
): Promise<Row> => find(state, callerOf({ caller }).account, parameters[kind] ?? '')

export const createResourceList =
  <Row, Settings>(
    { of, replyOf }: ShownResources<Row, Settings>,
    { state, settings }: ReadDeps<Settings>,
  ): Handler =>
  async ({ caller }) => {
    const rows = await of(state, callerOf({ caller }).account)
    const data = rows.map((row) => replyOf(row, settings))
    return known({ object: 'list', data, has_more: false, next_cursor: null })
  }

export const createResourceGet =
  <Row, Settings>(
    shown: ShownResources<Row, Settings>,
    { state, settings }: ReadDeps<Settings>,
  ): Handler =>
  async (call) =>
    known(shown.replyOf(await askedResource(shown, state, call), settings))

/** `deploy` makes it in a transaction, once for the key of the request. */
export const createResourceDeploy =
  <Row, Settings, Request>(
    { replyOf }: ShownResources<Row, Settings>,
    { state, settings }: Deps<Settings>,
    deploy: (
      transaction: Queryable,
      call: ActingCall,
      given: { readonly request: Request; readonly settings: Settings },
    ) => Promise<Row>,
  ): Handler<Request> =>
  async (call) => {
    const reply = await once(call, state, () => async (transaction) => {
      const made = await deploy(transaction, call, { request: call.body, settings })
      return replyOf(made, settings)
    })
    return known(reply, 201)
  }

/** `apply` does the change in a transaction, with its entry in the audit log. */
export const createResourceChange =
  <Row extends ShownResource, Settings, Change>(
    shown: ShownResources<Row, Settings>,
    { state, settings }: Deps<Settings>,
    apply: (
      transaction: Queryable,
      call: ActingCall,
      asked: { readonly resource: Row; readonly change: Change },
    ) => Promise<void>,
  ): Handler<Change> =>
  async (call) => {
    const resource = await askedResource(shown, state, call)
    await state.transaction((transaction) =>
      apply(transaction, call, { resource, change: call.body }),
    )
    const { account, id } = resource
    return known(shown.replyOf(await shown.find(state, account, id), settings))
  }

/** The resource answers no more; the agent's reconciler removes what is left. */
export const createResourceDelete =
  <Row extends ShownResource, Settings>(
    shown: ShownResources<Row, Settings>,
    { state }: Pick<Deps<Settings>, 'state'>,
  ): Handler =>
  async (call) => {
    const { kind } = shown
    const { id } = await askedResource(shown, state, call)
    await state.transaction((transaction) => deleteResource(transaction, call, { kind, id }))
    return known({ id, object: kind, deleted: true })
  }
