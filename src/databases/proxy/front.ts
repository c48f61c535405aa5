// The database proxy: one port for all. It ends TLS and SCRAM, and finds the database by the role's name.
import { randomBytes } from 'node:crypto'
import { createServer, type Server, type Socket } from 'node:net'
import { sleep, type Clock } from '#base/clock.ts'
import { present } from '#base/errors.ts'
import type { Logger } from '#base/log.ts'
import { fault } from '#contract/errors.ts'
import { decoyVerifier } from '#databases/logins/scram.ts'
import { authenticate, WRONG_PASSWORD } from './authenticate.ts'
import type { Cancels } from './cancels.ts'
import type { Certificate } from './certificate.ts'
import type { Conversations, LoginPayer } from './converse.ts'
import { greet, LoginRefusal, refuseCrowded } from './handshake.ts'
import { isOfThisMachine, type LoginLimits } from './login-limits.ts'
import type { PipeMarks } from '#metering/pipe-marks.ts'
import type { ByteWait } from './read-bytes.ts'
import type { Role } from './roles.ts'
import { createStrangers, type Stranger } from './strangers.ts'
import { fatalMessage, type FatalError } from '#wire/messages.ts'

export type FrontDeps = {
  readonly certificate: () => Certificate
  readonly roleOf: (name: string) => Promise<Role | undefined>
  readonly cancels: Pick<Cancels, 'request'>
  readonly conversations: Conversations
  readonly limits: LoginLimits
  readonly marks: Pick<PipeMarks, 'mark'>
  /** Bills nobody for the CPU of a connection that came to no session. */
  readonly absorb: (cpuNs: number, fromMs: number) => void
  readonly clock: Pick<Clock, 'wallMs'>
  readonly log: Logger
}

export interface Front {
  readonly server: Server
  /** For clients of this machine. */
  readonly localServer: Server
  /** Takes no new connection, and ends those that there are. */
  close(): void
}

/** For what was written before the end of a connection. */
const LAST_WORDS_MS = 10_000
const CONNECTIONS_MAX = 10_000
/** Connections that the kernel keeps for us. Of a thousand at once 511, Node's default, had no room for all. */
const BACKLOG = 4096
/** The kernel begins after two hours by default: so long a client without a network would keep its server awake. */
const KEEP_ALIVE_MS = 60_000
const DECOY_BYTES = 32
const AWAY: FatalError = {
  code: '57P03',
  message: 'logins cannot be checked now',
  hint: 'Try again in a few seconds.',
}
const UNENCRYPTED: FatalError = {
  code: '28000',
  message: 'the connection is not encrypted',
  hint: 'Connect with sslmode=require.',
}

export function createFront(deps: FrontDeps): Front {
  const { limits } = deps
  const sockets = new Set<Socket>()
  const letIn = createEntrance(deps)

  async function accept(raw: Socket): Promise<void> {
    // A closed socket has no address.
    const address = raw.remoteAddress
    const crowded = limits.crowded(address)
    const last = crowded === undefined ? await letIn(raw, address) : refuse(raw, crowded)
    last.destroySoon()
    // A client that reads nothing keeps its socket no longer.
    const timer = setTimeout(() => raw.destroy(), LAST_WORDS_MS).unref()
    if (raw.closed) clearTimeout(timer)
    else raw.once('close', () => clearTimeout(timer))
  }

  const take = (socket: Socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
    socket.on('error', () => socket.destroy())
    void accept(socket)
  }
  const kept = { keepAlive: true, keepAliveInitialDelay: KEEP_ALIVE_MS }
  const server = createServer({ noDelay: true, ...kept }, take)
  const localServer = createServer(take)
  for (const one of [server, localServer]) one.maxConnections = CONNECTIONS_MAX
  return {
    server,
    localServer,
    close() {
      server.close()
      localServer.close()
      for (const socket of sockets) socket.destroySoon()
    },
  }
}

function refuse(socket: Socket, fatal: FatalError): Socket {
  socket.write(fatalMessage(fatal))
  return socket
}

/** A client, from where it comes, and the payer of its login. */
type Arrival = {
  readonly raw: Socket
  readonly address: string | undefined
  readonly payer: LoginPayer
}

/** Serves a client to its end; resolves with the socket that the client reads by then. Never rejects. */
function createEntrance(
  deps: FrontDeps,
): (raw: Socket, address: string | undefined) => Promise<Socket> {
  const { absorb, cancels, certificate, clock, conversations, limits, marks, log } = deps
  const decoy = randomBytes(DECOY_BYTES)
  const admit = createStrangers()

  async function serve({ raw, address, payer }: Arrival, { signal, leave }: Stranger) {
    const waiting = { signal, mark: () => marks.mark(payer) }
    const { context, channel } = certificate()
    const greeting = await greet(raw, context, waiting)
    if (greeting.kind === 'cancel') {
      cancels.request(greeting.key)
      return raw
    }
    const { socket, isEncrypted, parameters } = greeting
    socket.on('error', () => socket.destroy())
    if (!isEncrypted && !isOfThisMachine(address)) throw new LoginRefusal(socket, UNENCRYPTED)
    const login = { socket, address, name: parameters.get('user') ?? '', isEncrypted, channel }
    const identified = identify({ ...deps, decoy }, login, waiting)
    const role = await identified.catch(refuseCrowded(socket))
    leave()
    marks.mark(payer)
    limits.known(role, address)
    const tooOften = limits.loggedIn(role.database)
    if (tooOften !== undefined) throw new LoginRefusal(socket, tooOften)
    await conversations.converse(socket, role, { parameters, payer })
    return socket
  }

  return async (raw, address) => {
    const stranger = admit()
    const fromMs = clock.wallMs()
    const payer: LoginPayer = { cpuNs: 0, isServed: false }
    try {
      return await serve({ raw, address, payer }, stranger)
    } catch (error) {
      if (error instanceof LoginRefusal) return refuse(error.socket, error.fatal)
      log.debug('A login ended', { error: String(error) })
      return raw
    } finally {
      stranger.leave()
      if (!payer.isServed) {
        marks.mark(payer)
        limits.unserved(address)
        absorb(payer.cpuNs, fromMs)
      }
    }
  }
}

/** Resolves with the role when the client has proved who it is; rejects with a LoginRefusal. */
async function identify(
  { roleOf, limits, log, decoy }: FrontDeps & { readonly decoy: Buffer },
  login: {
    readonly socket: Socket
    readonly address: string | undefined
    readonly name: string
    readonly isEncrypted: boolean
    readonly channel: Buffer
  },
  waiting: ByteWait,
): Promise<Role> {
  const { socket, address, name, isEncrypted, channel } = login
  const tooMany = limits.refusal(name, address)
  if (tooMany !== undefined) throw new LoginRefusal(socket, tooMany)
  const role = await roleOf(name).catch((cause: unknown) => {
    log.warn('A role could not be looked up', { error: String(cause) })
    throw new LoginRefusal(socket, AWAY)
  })
  const proof = {
    role: name,
    verifier: role?.verifier ?? decoyVerifier(decoy, name),
    channel: isEncrypted ? channel : undefined,
  }
  await authenticate(socket, proof, waiting).catch(async (error: unknown) => {
    if (error instanceof LoginRefusal && error.fatal.code === WRONG_PASSWORD)
      await sleep(limits.failed(name, address), waiting.signal)
    throw error
  })
  return present(role, 'no password fits a decoy')
}

/** Rejects with port_taken. */
export const listenOn = (
  server: Server,
  { shared, ...where }: { host: string; port: number; shared: boolean },
): Promise<void> =>
  new Promise((resolve, reject) => {
    server.once('error', (cause) =>
      reject(fault('port_taken', `Could not listen: port ${where.port} is taken`, { cause })),
    )
    server.listen({ ...where, reusePort: shared, backlog: BACKLOG }, () => resolve())
  })
