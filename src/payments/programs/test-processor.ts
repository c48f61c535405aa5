// The embedded card processor: a stranger on loopback that speaks Stripe's routes with test money. No funds move.
import { endOnFault } from '#base/crash.ts'
import { messageOf } from '#base/errors.ts'
import { createLogger, type LogLevel } from '#base/log.ts'
import { onParentGone, readConfig } from '#base/parent.ts'
import { serveInside } from '#node/inside.ts'
import { createDelivery } from '#payments/processor/deliver.ts'
import { expireDue } from '#payments/processor/expire.ts'
import { serveProcessor } from '#payments/processor/serve.ts'
import { connectState, type StateAddress } from '#state/connect.ts'

export type TestProcessorConfig = {
  readonly port: number
  /** Where its webhooks go. */
  readonly webhookUrl: string
  readonly key: string
  readonly webhookSecret: string
  readonly state: StateAddress
  readonly socket: string
  readonly logLevel: LogLevel
}

const CONNECTIONS = 3
const EXPIRE_EVERY_MS = 1000

const config = await readConfig<TestProcessorConfig>()
const log = createLogger('test-processor', { level: config.logLevel })
endOnFault(log)
const state = connectState({ address: config.state, connections: CONNECTIONS, log })
const ending = new AbortController()
const { webhookUrl: url, webhookSecret: secret } = config
const delivery = createDelivery({ state, url, secret, log })
const server = await serveProcessor(config.port, {
  state,
  key: config.key,
  log,
  changed: delivery.poke,
})
const expiring = setInterval(() => {
  expireDue(state).then(
    (expired) => expired > 0 && delivery.poke(),
    (error: unknown) =>
      log.warn('Test holds and pages could not expire', { error: messageOf(error) }),
  )
}, EXPIRE_EVERY_MS)
const running = delivery.run(ending.signal)
const inside = await serveInside(config.socket, { '/readyz': () => ({ ready: true }) })
log.info('The test processor listens: test money, no funds move', { port: config.port })

process.once('SIGTERM', () => {
  ending.abort()
  clearInterval(expiring)
  void Promise.all([server.close(), running]).then(async () => {
    await inside.close()
    await state[Symbol.asyncDispose]()
    process.exit(0)
  })
})
onParentGone(() => process.exit(0))
