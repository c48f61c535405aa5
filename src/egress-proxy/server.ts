// Takes the connections of tenants' cells, and leads each to where it asks for. Nothing that comes behind the first line is
// believed: whose connection it is says the ticket.
import { createServer, type Server, type Socket } from 'node:net'
import { sleep } from '#base/clock.ts'
import { present } from '#base/errors.ts'
import { joinStreams } from '#base/join-streams.ts'
import { PROXY_PORT } from '#node/egress.ts'
import type { OwnAddress } from '#node/own-addresses.ts'
import type { CausedByCells, CausedWork } from '#node/meter/caused-by-cells.ts'
import { createHttpProxy, type TenantOf } from './http.ts'
import { oneAtATime } from './one-at-a-time.ts'
import type { Reach } from './reach.ts'
import { unreached, type EgressLine } from './unreached.ts'
import { readTicket, type Tenant } from './ticket.ts'
import type { ConnectionTurns } from './turns.ts'

export type EgressDeps = {
  readonly key: string
  readonly own: readonly OwnAddress[]
  readonly reach: Reach
  readonly turns: ConnectionTurns
  readonly caused: CausedByCells
  /** Tells the owner of a cell. */
  readonly tell: (line: EgressLine) => void
  /** Silence of both directions after which a connection ends. */
  readonly silenceMs?: number
}

/** Pools of databases keep connections for minutes. */
const SILENCE_MS = 900_000

const GREETING_MS = 5000
const GREETING_MAX = 400
const BUSY = 'Could not connect: the account has too many connections open, or opens them too fast'

export function createEgressServer(deps: EgressDeps): Server {
  const { silenceMs = SILENCE_MS } = deps
  const known = new WeakMap<Socket, ReturnType<typeof callerOf>>()
  const tenantOfSocket: TenantOf = (socket) => {
    const { cell, signal, open, work } = present(known.get(socket), 'a greeted socket')
    return {
      work,
      async open(to) {
        try {
          return await open(to)
        } catch (error) {
          const why = unreached(`${to.hostname}:${to.port}`, error)
          if (!signal.aborted) deps.tell({ cell, text: why.message })
          throw why
        } finally {
          work.mark()
        }
      },
    }
  }
  const proxy = createHttpProxy(tenantOfSocket, silenceMs)
  const lead = (socket: Socket, port: number) => {
    if (port === PROXY_PORT) {
      proxy.emit('connection', socket)
      return void socket.resume()
    }
    const own = deps.own.find((one) => one.port === port && one.listens !== undefined)
    if (own === undefined) return void socket.destroy()
    const [hostname = ''] = own.names
    const { open, work } = tenantOfSocket(socket)
    open({ hostname, port }).then(
      (there) => {
        void joinStreams(socket, there, silenceMs)
        for (const stream of [socket, there]) work.count(stream)
      },
      () => socket.destroy(),
    )
  }
  return createServer({ allowHalfOpen: true }, (socket) =>
    greet(socket, (words) => {
      const port = Number(words.at(-1))
      const tenant = readTicket(deps.key, words.slice(0, -1))
      if (tenant === undefined) return void socket.destroy()
      const work = deps.caused.begin(tenant.cell)
      socket.once('close', work.end)
      const turn = deps.turns.take(tenant.account)
      if (turn === undefined) {
        deps.tell({ cell: tenant.cell, text: BUSY })
        return refuse(socket, port)
      }
      const gone = new AbortController()
      socket.once('close', () => {
        turn.end()
        gone.abort()
      })
      known.set(socket, callerOf(deps.reach, tenant, { signal: gone.signal, work }))
      work.mark()
      if (turn.waitMs === 0) return lead(socket, port)
      sleep(turn.waitMs, gone.signal).then(
        () => lead(socket, port),
        () => undefined,
      )
    }),
  )
}

const callerOf = (
  reach: Reach,
  { cell, account }: Tenant,
  { signal, work }: { readonly signal: AbortSignal; readonly work: CausedWork },
) => ({
  cell,
  signal,
  work,
  open: oneAtATime(async (to) => {
    signal.throwIfAborted()
    return await reach(to, { account, signal })
  }),
})

/** Pid 1 sends the first line at once. */
function greet(socket: Socket, greeted: (words: readonly string[]) => void): void {
  socket.on('error', () => socket.destroy())
  const timer = setTimeout(() => socket.destroy(), GREETING_MS)
  socket.once('close', () => clearTimeout(timer))
  socket.once('data', (chunk: Buffer) => {
    clearTimeout(timer)
    socket.pause()
    const end = chunk.indexOf(0x0a)
    if (end < 0 || end > GREETING_MAX) return void socket.destroy()
    if (end + 1 < chunk.length) socket.unshift(chunk.subarray(end + 1))
    greeted(chunk.toString('latin1', 0, end).split(' '))
  })
}

function refuse(socket: Socket, port: number): void {
  if (port !== PROXY_PORT) return void socket.destroy()
  socket.write(`HTTP/1.1 429 ${BUSY}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`)
  socket.destroySoon()
}
