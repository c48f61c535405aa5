// The ingress as a cell.
import { readFileSync } from 'node:fs'
import { messageOf } from '#base/errors.ts'
import type { Cell } from '#cells/cell.ts'
import type { Config } from '#config/config.ts'
import { fault } from '#contract/errors.ts'
import type { FunctionsAddress } from '#contract/functions/functions-address.ts'
import type { AgentCore } from '#node/agent-part.ts'
import type { AgentSocket } from '#node/agent-socket/ask-agent.ts'
import { INGRESS_CELL } from '#node/cell-names.ts'
import { programCell } from '#node/cell-specs.ts'
import { INSTANCE_SOCKETS } from '#node/ingress.ts'
import { FUNCTIONS_PORT_OFFSET } from '#node/ports.ts'
import { ONE_COLLECTOR, type Program } from '#node/program-flags.ts'
import { STATE_SOCKETS } from '#node/state-cell.ts'
import type { AcmeSettings } from './acme/acme-settings.ts'
import { INGRESS_AGENT_SOCKETS } from './awake/awake.ts'
import type { IngressConfig } from './programs/ingress.ts'

export const INGRESS: Program = { file: 'ingress/programs/ingress.ts', flags: [ONE_COLLECTOR] }
/** A flood ends this process, which starts again, and no neighbour. 1,800 slow connections take 150 MB. */
const MEMORY_BYTES_MAX = 1_000_000_000

export async function startIngress(
  { cells, config, data, place, address: state, meterName }: Omit<AgentCore, 'ingress' | 'egress'>,
  {
    agent,
    address,
  }: { readonly agent: AgentSocket; readonly address: FunctionsAddress | undefined },
): Promise<Cell> {
  const folder = data.at('ingress')
  const settings: Omit<IngressConfig, 'socket' | 'logLevel'> = {
    state,
    agent,
    address,
    meter: meterName,
    trustedProxies: config.trustedProxies,
    folder,
    listen: { host: config.host, port: data.port + FUNCTIONS_PORT_OFFSET },
    tlsPort: config.ingressTlsPort,
    calmMs: config.workloadCalmSeconds * 1000,
    acme: acmeOf(config),
    isHttpsOnly: config.ingressHttps === 'only',
  }
  return await cells.start(
    programCell(INGRESS, {
      name: INGRESS_CELL,
      place,
      config: settings,
      socketGroup: INGRESS_CELL,
      writes: [folder],
      worksForCells: true,
      limits: { memoryBytes: MEMORY_BYTES_MAX },
      calls: [STATE_SOCKETS, INGRESS_AGENT_SOCKETS, INSTANCE_SOCKETS],
    }),
  )
}

/** Throws settings_invalid for a file of roots that cannot be read. */
function acmeOf(config: Config): AcmeSettings | undefined {
  const directory = config.ingressAcme
  const email = config.ingressAcmeEmail
  const file = config.ingressAcmeRoots
  if (directory === undefined || email === undefined) return undefined
  try {
    return { directory, email, roots: file === undefined ? undefined : readFileSync(file, 'utf8') }
  } catch (cause) {
    throw fault('settings_invalid', `Could not use ${file}: ${messageOf(cause)}`, { cause })
  }
}
