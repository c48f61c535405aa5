// One pull of an image as a process of its own: it parses what strangers have packed, writes to the folder of images alone,
// and is paid by the account that asked. Its page says how far it is.
import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { endOnFault } from '#base/crash.ts'
import { ErgonError } from '#base/errors.ts'
import { createLogger, type LogLevel } from '#base/log.ts'
import { onParentGone, readConfig } from '#base/parent.ts'
import { assertEnterable } from '#cells/root/plan.ts'
import { fault } from '#contract/errors.ts'
import { createAddressRule } from '#egress/addresses.ts'
import { createCheckedConnections } from '#egress/connections.ts'
import { createResolve } from '#egress/resolve.ts'
import { openImage } from '#images/open-image.ts'
import type { RegistryCredentials } from '#images/registry-requests.ts'
import { createImageStore } from '#images/store.ts'
import { serveInside } from '#node/inside.ts'
import {
  allowedImage,
  assertInside,
  isPlainRegistry,
  isPrivateRegistry,
} from '#workloads/image-rule.ts'
import type { ImageSettings } from '#workloads/image-rule.ts'
import type { PullPage } from '#workloads/pull-page.ts'
import { createReservedRoom } from '#node/reserved-room.ts'

export type PullConfig = ImageSettings & {
  readonly image: string
  /** The credentials for its registry. */
  readonly credentials?: RegistryCredentials | undefined
  /** The folder has the images of one repository. */
  readonly folder: string
  /** The folder has the files of this pull. */
  readonly work: string
  /** The lock under which room of the disk is reserved. */
  readonly roomLock: string
  /** The bytes that the files of the image may have by the quota of its account. */
  readonly quotaBytes: number
  /** Ports of the service, which may be asked at this machine's public addresses. */
  readonly servedPorts: readonly number[]
  readonly socket: string
  readonly logLevel: LogLevel
}

const PROCESS = 'image pull'
const GIB = 1024 ** 3
const ARCHIVE_BYTES_MAX = 8 * GIB
/** For registries that the operator names. */
const EVERY_NETWORK = ['0.0.0.0/0', '::/0']

const config = await readConfig<PullConfig>()
const log = createLogger(PROCESS, { level: config.logLevel })
endOnFault(log)
const ending = new AbortController()
let page: PullPage = { doneBytes: 0, totalBytes: 0 }
const inside = await serveInside(config.socket, {
  '/readyz': () => ({ ready: true }),
  '/pull': () => page,
})
void pull().catch((error: unknown) => {
  if (ending.signal.aborted) return
  const isKnown = error instanceof ErgonError
  if (!isKnown) log.error('An image could not be pulled', { error })
  const { code, status, message } = isKnown ? error : fault('internal', 'Could not pull the image')
  page = { ...page, failure: { code, status, message } }
})

async function pull(): Promise<void> {
  const reference = allowedImage(config.image, config)
  assertInside(reference, config)
  const registry = reference.kind === 'registry' ? reference.registry : ''
  const networks = isPrivateRegistry(registry, config) ? EVERY_NETWORK : []
  const connections = createCheckedConnections({
    rule: createAddressRule(networks, config),
    resolve: createResolve(),
  })
  const scratch = join(config.work, 'archives')
  // A pull that was killed has left files there.
  await rm(scratch, { recursive: true, force: true })
  await mkdir(scratch, { recursive: true })
  const room = createReservedRoom({
    path: join(config.work, 'room'),
    lock: config.roomLock,
    signal: ending.signal,
  })
  const store = createImageStore({
    folder: config.folder,
    work: config.work,
    quotaBytes: config.quotaBytes,
    room,
    open: openImage({
      connections,
      credentials: config.credentials,
      isPlain: (host) => isPlainRegistry(host, config),
      scratch,
      bytesMax: ARCHIVE_BYTES_MAX,
      room,
    }),
  })
  const {
    digest,
    config: image,
    root,
    bytes,
  } = await store.pull(config.image, ending.signal, (pullProgress) => {
    page = { ...pullProgress }
  })
  connections.close()
  assertEnterable(root, image.folder)
  page = { ...page, pulled: { digest, config: image, bytes } }
}

process.once('SIGTERM', () => {
  ending.abort()
  void inside.close().then(() => process.exit(0))
})
onParentGone(() => process.exit(0))
