// The database proxy as a process.
import { dirname, join } from 'node:path'
import { systemClock } from '#base/clock.ts'
import { endOnFault } from '#base/crash.ts'
import { messageOf } from '#base/errors.ts'
import { createLogger, type LogLevel } from '#base/log.ts'
import { onParentGone, readConfig } from '#base/parent.ts'
import { listenUnix } from '#base/unix-server.ts'
import { LOCAL_SOCKET } from '#contract/databases/database-socket.ts'
import type { AgentSocket } from '#node/agent-socket/ask-agent.ts'
import { keepAwake, LOGIN_PARAMETER } from '#databases/agent-socket/awake.ts'
import { createBackends } from '#databases/proxy/backends.ts'
import { openBill, PROXY_HOLDS } from '#databases/proxy/bill.ts'
import { createCancels } from '#databases/proxy/cancels.ts'
import { followCertificate } from '#databases/proxy/certificate.ts'
import { createConversations } from '#databases/proxy/converse.ts'
import { createFront, listenOn } from '#databases/proxy/front.ts'
import { createLoginLimits, sharedAt } from '#databases/proxy/login-limits.ts'
import { createPipeMarks } from '#metering/pipe-marks.ts'
import { createRoles } from '#databases/proxy/roles.ts'
import { createUses } from '#databases/proxy/uses.ts'
import { STOPPED } from '#wire/messages.ts'
import { noteUsedUp } from '#ledger/budgets.ts'
import { createLimitedPayers } from '#node/limited-payers.ts'
import { openBackgroundAccounting, type AccountingConfig } from '#node/background-accounting.ts'
import { serveInside } from '#node/inside.ts'
import { BILLED_PAGE, billedPage } from '#node/meter/gateway-bills.ts'
import { tuneForRequests } from '#node/program-flags.ts'
import { connectState } from '#state/connect.ts'

export type ProxyConfig = AccountingConfig & {
  readonly name: string
  /** Its place among all proxies, from 1, and the sockets of all. */
  readonly number: number
  readonly proxies: readonly string[]
  readonly listen: { readonly host: string; readonly port: number; readonly shared: boolean }
  /** The agent's socket that keeps servers running and sends the certificate, and the proof that this process may ask. */
  readonly agent: AgentSocket
  readonly socket: string
  readonly logLevel: LogLevel
}

const CONNECTIONS = 4
const TICK_TIMEOUT_MS = 5000
/** The status of unattributed requests here. */
const UNAUTHENTICATED = 401

const config = await readConfig<ProxyConfig>()
const log = createLogger(config.name, { level: config.logLevel })
endOnFault(log)
const marks = createPipeMarks()
const state = connectState({
  address: config.state,
  connections: CONNECTIONS,
  log,
  prepares: true,
})
const accounting = await openBackgroundAccounting(config, {
  process: config.name,
  log,
  marks: marks.accounting,
  ...PROXY_HOLDS,
})
const { session, charging } = accounting
const { payerOf } = createLimitedPayers(state)
const billing = {
  charging,
  clock: systemClock,
  marks,
  payerOf,
  async budgetEnded(database: string) {
    try {
      // The last charge is posted first.
      await session.tickNow(AbortSignal.timeout(TICK_TIMEOUT_MS))
      await noteUsedUp(state, database)
    } catch (error) {
      log.warn('An event of a budget is lost', { database, error: messageOf(error) })
    }
  },
}
const backends = createBackends()
const uses = createUses({
  wake: ({ database, name }, signal) =>
    keepAwake(config.agent, `${database}?${LOGIN_PARAMETER}=${encodeURIComponent(name)}`, signal),
  bill: (database) => openBill(billing, database),
})
const ending = new AbortController()
const cancels = createCancels({ ...config, log })
const front = createFront({
  cancels,
  certificate: await followCertificate(config.agent, log, ending.signal),
  roleOf: createRoles(state),
  conversations: createConversations({ backends, cancels, uses, log }),
  limits: createLoginLimits(systemClock, config.proxies.length, sharedAt(config.listen.host)),
  marks,
  absorb(cpuNs, fromMs) {
    if (session.closed) return
    const work = charging.open({ fromMs, toMs: systemClock.wallMs() })
    work.measure.cpuNs = cpuNs
    work.settle(UNAUTHENTICATED)
  },
  clock: systemClock,
  log,
})
await listenOn(front.server, config.listen)
await listenUnix(front.localServer, {
  socket: join(dirname(config.socket), LOCAL_SOCKET),
  // The folder decides who may connect.
  mode: 0o660,
})
const inside = await serveInside(config.socket, {
  '/readyz': () => ({ ready: true, sessions: cancels.count }),
  [BILLED_PAGE]: () => billedPage(session.id, charging),
  ...cancels.pages,
})
tuneForRequests()

process.once('SIGTERM', () => {
  ending.abort()
  const charged = uses.close(STOPPED)
  front.close()
  backends.close()
  void charged.then(async () => {
    await inside.close()
    await accounting.close()
    await state[Symbol.asyncDispose]()
    process.exit(0)
  })
})
onParentGone(() => process.exit(0))
