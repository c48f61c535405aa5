// A signer process: reads {index, folder, socket} from fd 3 and serves until told to stop.
import { messageOf } from '#base/errors.ts'
import { createLogger, type LogLevel } from '#base/log.ts'
import { onParentGone, readConfig } from '#base/parent.ts'
import { giveWay } from '#base/priority.ts'
import { startSigner, type SignerConfig } from '#signers/signer.ts'

const config = await readConfig<SignerConfig & { readonly logLevel?: LogLevel }>()
const log = createLogger('signer', { level: config.logLevel ?? 'info' })
giveWay()

try {
  const signer = await startSigner(config, log)
  const stop = (reason: string) => {
    log.info('Signer stops', { index: config.index, reason })
    void signer.close()
  }
  onParentGone(() => stop('parent gone'))
  process.once('SIGTERM', () => stop('SIGTERM'))
} catch (error) {
  log.error('Signer could not start', { reason: messageOf(error) })
  process.exitCode = 1
}
