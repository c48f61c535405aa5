// The ingress as a cell: it answers at the address of functions from the first function on.
import type { Cell } from '#cells/cell.ts'
import type { AgentCore } from '#node/agent-part.ts'
import type { AgentSocket } from '#node/agent-socket/ask-agent.ts'
import { programCell } from '#node/cell-specs.ts'
import type { FunctionsAddress } from '#contract/functions-address.ts'
import { FUNCTIONS_PORT_OFFSET } from '#node/ports.ts'
import { ONE_COLLECTOR, type Program } from '#node/program-flags.ts'
import { STATE_SOCKETS } from '#node/state-cell.ts'
import { FUNCTION_AGENT_SOCKETS } from './awake/awake.ts'
import { FUNCTION_SOCKETS } from './local-driver.ts'
import type { IngressConfig } from './programs/ingress.ts'

export const INGRESS: Program = { file: 'functions/programs/ingress.ts', flags: [ONE_COLLECTOR] }
export const INGRESS_CELL = 'ingress'

export async function startIngress(
  { cells, config, data, place, address: state, meterName }: AgentCore,
  { agent, address }: { readonly agent: AgentSocket; readonly address: FunctionsAddress },
): Promise<Cell> {
  const settings: Omit<IngressConfig, 'socket' | 'logLevel'> = {
    state,
    agent,
    address,
    meter: meterName,
    trustedProxies: config.trustedProxies,
    listen: { host: config.host, port: data.port + FUNCTIONS_PORT_OFFSET },
  }
  return await cells.start(
    programCell(INGRESS, {
      name: INGRESS_CELL,
      place,
      config: settings,
      socketGroup: INGRESS_CELL,
      calls: [STATE_SOCKETS, FUNCTION_AGENT_SOCKETS, FUNCTION_SOCKETS],
    }),
  )
}
