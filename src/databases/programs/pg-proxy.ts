// The database proxy as a process.
import { endOnFault } from '#base/crash.ts'
import { createLogger, type LogLevel } from '#base/log.ts'
import { onParentGone, readConfig } from '#base/parent.ts'
import { createBackends } from '#databases/proxy/backends.ts'
import { createCancels } from '#databases/proxy/cancels.ts'
import { followCertificate } from '#databases/proxy/certificate.ts'
import { createConversations } from '#databases/proxy/converse.ts'
import { createFront, listenOn } from '#databases/proxy/front.ts'
import { createRoles } from '#databases/proxy/roles.ts'
import { createUses } from '#databases/proxy/uses.ts'
import { serveInside } from '#node/inside.ts'
import { connectState, type StateAddress } from '#state/connect.ts'

export type ProxyConfig = {
  readonly name: string
  /** Its place among all proxies, from 1, and the sockets of all. */
  readonly number: number
  readonly proxies: readonly string[]
  readonly listen: { readonly host: string; readonly port: number; readonly shared: boolean }
  readonly state: StateAddress
  /** The agent's socket that keeps servers running and sends the certificate, and the proof that this process may ask. */
  readonly agent: { readonly socketPath: string; readonly secret: string }
  readonly socket: string
  readonly logLevel: LogLevel
}

const CONNECTIONS = 4

const config = await readConfig<ProxyConfig>()
const log = createLogger(config.name, { level: config.logLevel })
endOnFault(log)
const state = connectState({ address: config.state, connections: CONNECTIONS, log, prepares: true })
const backends = createBackends()
const uses = createUses(config.agent)
const cancels = createCancels({ ...config, log })
const conversations = createConversations({ backends, cancels, uses, log })
const certificate = await followCertificate(config.agent, log)
const roleOf = createRoles(state)
const front = createFront({ cancels, certificate, roleOf, conversations, uses, log })
await listenOn(front.server, config.listen)
const inside = await serveInside(config.socket, {
  '/readyz': () => ({ ready: true, sessions: cancels.count }),
  ...cancels.pages,
})

process.once('SIGTERM', () => {
  void (async () => {
    front.close()
    backends.close()
    await inside.close()
    await state[Symbol.asyncDispose]()
    process.exit(0)
  })()
})
onParentGone(() => process.exit(0))
