// The ingress in the agent: its cell, which starts with the first kind that needs it, and the running instances that it asks for.
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { invariant, messageOf } from '#base/errors.ts'
import { onceDone } from '#base/once-done.ts'
import { makeOpenFolder } from '#cells/place.ts'
import type { Config } from '#config/config.ts'
import { fault } from '#contract/errors.ts'
import type { AgentCore, AgentProduct } from '#node/agent-part.ts'
import { INGRESS_CELL } from '#node/cell-names.ts'
import { START_TIMEOUT_MS } from '#node/cell-specs.ts'
import { listenOf, ownHttpAddress } from '#node/own-addresses.ts'
import { functionsAddress, ingressAddress } from '#node/functions-address.ts'
import type { NodeIngress, ServedKind, ServedResources } from '#node/ingress.ts'
import { INGRESS_AGENT_SOCKETS, refusalLine, suspendedLine } from './awake/awake.ts'
import { createWakeServer, type WakeServer } from './awake/awake-server.ts'
import { createServedCertificates, type ServedCertificates } from './certificates/served.ts'
import { INGRESS, startIngress } from './ingress-cell.ts'
import { FUNCTIONS_PORT_OFFSET } from '#node/ports.ts'
import type { RouteSettings } from './route-part.ts'
import { isRoutedKind } from './kinds.ts'
import { ownHosts } from './own-hosts.ts'

/** Its process, beside the products that it answers for. */
export const INGRESS_AGENT: AgentProduct = {
  name: 'ingress',
  programs: [INGRESS],
  addresses(node) {
    const { origin, named } = functionsAddress(node) ?? {}
    const url = origin ?? named?.replace('*.', '')
    return url === undefined ? [] : [ownHttpAddress(url, listenOf(node, FUNCTIONS_PORT_OFFSET))]
  },
  open(core) {
    const settings: RouteSettings = { address: ingressAddress(core), ownHosts: ownHosts(core) }
    return {
      gateway: { settings },
      cells: [{ stage: 'gateways', name: INGRESS_CELL }],
      close: () => core.ingress.close(),
    }
  },
}

export function createIngress(core: Omit<AgentCore, 'ingress' | 'egress'>): NodeIngress {
  const { state, wakes, log, data, config, onPayable } = core
  const ending = new AbortController()
  let watching: Promise<void> | undefined
  const kinds = new Map<string, ServedKind>()
  const certificates = createServedCertificates({ folders: foldersOf(core), state, log })
  const server = createWakeServer({ state: wakes, log, kinds, certificates })
  onPayable((of) => server.again(of))
  const folder = join(data.runFolder, INGRESS_AGENT_SOCKETS)
  const agent = {
    socketPath: join(folder, 'awake.sock'),
    secret: randomBytes(32).toString('base64url'),
  }
  const listening = onceDone(async () => {
    makeOpenFolder(folder)
    await lookAtFirst(certificates, config)
    watching = certificates.watch(ending.signal)
    await server.listen(agent)
  })
  const starting = onceDone(() => startIngress(core, { agent, address: functionsAddress(core) }))
  const ready = async () => {
    await listening()
    await (await starting()).ready(AbortSignal.timeout(START_TIMEOUT_MS))
  }
  return {
    serve(served) {
      kinds.set(served.kind, served)
      return servedBy(core, { server, kind: served.kind, ready })
    },
    async close() {
      ending.abort()
      await watching
      await server.close()
    },
  }
}

const foldersOf = ({ config }: Pick<AgentCore, 'config'>): readonly string[] =>
  config.ingressCertificates === undefined ? [] : [config.ingressCertificates]

/** Throws settings_invalid for a folder that cannot be read. */
async function lookAtFirst(
  certificates: ServedCertificates,
  { ingressCertificates: folder }: Config,
): Promise<void> {
  try {
    await certificates.look()
  } catch (cause) {
    throw fault('settings_invalid', `Could not use ${folder}: ${messageOf(cause)}`, { cause })
  }
}

function servedBy(
  { state }: Pick<AgentCore, 'state'>,
  {
    server,
    kind,
    ready,
  }: { readonly server: WakeServer; readonly kind: string; ready(): Promise<void> },
): ServedResources {
  invariant(isRoutedKind(kind), `no kind of routes: ${kind}`)
  return {
    ready,
    replace: (id) => server.replace(id),
    suspend: ({ id, name }, held) => server.end(id, suspendedLine({ kind, name }, held)),
    async refuse(id, why) {
      const { rows } = await state.query<{ name: string }>(
        'select name from resources where id = $1',
        [id],
      )
      const line = refusalLine(why, { kind, name: rows[0]?.name ?? id })
      if (line === undefined) return
      server.refuse(id, line)
      server.end(id, line)
    },
    allow: (id) => server.refuse(id, undefined),
    again: (id) => server.again(id),
  }
}
