// The proxy in the agent: its cell, which starts with the first cell of an account, and the outlets that lead to it.
import { randomBytes } from 'node:crypto'
import { dirname, join } from 'node:path'
import { onceDone } from '#base/once-done.ts'
import type { AgentCore, AgentProduct } from '#node/agent-part.ts'
import { programCell, socketOf, START_TIMEOUT_MS } from '#node/cell-specs.ts'
import { EGRESS_SOCKETS, PROXY_PORT, type NodeEgress } from '#node/egress.ts'
import type { OwnAddress } from '#node/own-addresses.ts'
import { ONE_COLLECTOR, type Program } from '#node/program-flags.ts'
import type { EgressProxyConfig } from './programs/egress-proxy.ts'
import { makeTicket } from './ticket.ts'
import { EGRESS_FILES_MAX } from './turns.ts'
import { readTold } from './unreached.ts'

const EGRESS_CELL = 'egress'
const EGRESS_PROXY: Program = {
  file: 'egress-proxy/programs/egress-proxy.ts',
  flags: [ONE_COLLECTOR],
}
const WORDS = 'The network of this node is being started: try again'
const STARTING = `HTTP/1.1 503 ${WORDS}\r\nconnection: close\r\nretry-after: 1\r\ncontent-length: 0\r\n\r\n`

/** Its process, which ends after those that call by it. */
export const EGRESS_AGENT: AgentProduct = {
  name: 'egress',
  programs: [EGRESS_PROXY],
  open: () => ({ cells: [{ stage: 'signers', name: EGRESS_CELL }] }),
}

export function createEgress(
  { cells, config, place }: Pick<AgentCore, 'cells' | 'config' | 'place'>,
  own: readonly OwnAddress[],
  startMs = START_TIMEOUT_MS,
): NodeEgress {
  const key = randomBytes(32).toString('base64url')
  const outlet = join(dirname(socketOf(place, EGRESS_SOCKETS, EGRESS_CELL)), 'outlet.sock')
  const settings: Omit<EgressProxyConfig, 'socket' | 'logLevel'> = {
    key,
    own,
    networks: config.egressNetworks,
    outlet,
  }
  const listeners = new Map<string, Parameters<NodeEgress['onFailure']>[1]>()
  // Once: the cell tries on by itself, and a second one of its name would be refused.
  const start = onceDone(async () => {
    const spec = programCell(EGRESS_PROXY, {
      name: EGRESS_CELL,
      place,
      config: settings,
      socketGroup: EGRESS_SOCKETS,
      worksForCells: true,
      limits: { files: EGRESS_FILES_MAX },
    })
    return await cells.start({
      ...spec,
      output(line) {
        const message = readTold(line.text)
        if (message === undefined) return spec.output?.(line)
        for (const [cells, tell] of listeners) if (message.cell.startsWith(cells)) tell(message)
      },
    })
  })
  const started = onceDone(async () => (await start()).ready(AbortSignal.timeout(startMs)))
  const here = own.filter(({ listens }) => listens !== undefined)
  const ports = new Set(here.map(({ port }) => port))
  return {
    onFailure: (cells, tell) => void listeners.set(cells, tell),
    async outletOf(cell, taken = []) {
      await started()
      return {
        socket: outlet,
        ...(cell && { ticket: makeTicket(key, { cell: cell.name, account: cell.account }) }),
        ports: [
          { port: PROXY_PORT, refusal: STARTING },
          ...[...ports].map((port) => ({ port, refusal: '' })),
        ].filter(({ port }) => !taken.includes(port)),
        hosts: here.flatMap(({ names }) =>
          names.filter((one) => !/^\*|^localhost$|^[\d.]+$|:/.test(one)),
        ),
      }
    },
  }
}
