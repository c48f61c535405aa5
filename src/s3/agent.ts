// Object storage in the agent: where blobs are, the settings of its tasks, and the operator's operations on both.
import type { Config } from '#config/config.ts'
import type { STORAGE_CONTROL } from '#contract/storage/control.ts'
import type { ControlHandlers } from '#contract/control-operation.ts'
import type { AgentCore, AgentPart, AgentProduct } from '#node/agent-part.ts'
import { baseUrl } from '#node/report.ts'
import { storageKeyHandlers } from '#objects/control/storage-keys.ts'
import { storageMoveHandlers } from '#objects/control/storage-move.ts'
import { settleBlobStores } from '#objects/settle-blob-stores.ts'
import type { ObjectsTaskSettings } from '#objects/tasks.ts'
import type { StorageSettings } from './settings.ts'

export const STORAGE_AGENT: AgentProduct = { name: 'storage', open }

async function open(core: AgentCore, signal: AbortSignal): Promise<AgentPart> {
  const { config, data, state, log } = core
  const blobs = await settleBlobStores({ config, data, state, log, signal })
  const tasks: ObjectsTaskSettings = {
    blobs,
    stateKey: data.secrets.state,
    keyIds: config.storageKmsKeys,
    dayMs: config.storageDayS * 1000,
    minuteMs: config.storageMinuteS * 1000,
    retentionDays: config.retentionDays,
    power: {
      milliwattsPerTb: config.storageMilliwattsPerTb,
      pueMilli: Number(config.pueMilli),
    },
  }
  const address = baseUrl({ config, data })
  return {
    gateway: { settings: { blobs, storage: settingsOf(config), address }, writes: [blobs.folder] },
    control: {
      ...storageMoveHandlers({ state, blobs }),
      ...storageKeyHandlers({ state, keyIds: config.storageKmsKeys }),
    } satisfies ControlHandlers<typeof STORAGE_CONTROL>,
    tasks: { settings: tasks, writes: [blobs.folder] },
  }
}

const settingsOf = (config: Config): StorageSettings => ({
  region: config.region,
  bucketsMax: config.storageBuckets,
  acls: config.storageAcls,
  encrypts: config.storageEncryption,
  keyIds: config.storageKmsKeys,
  website: websiteOf(config),
})

/** The hosts of websites: below a name of their own, or below `website.` and the API's name. */
function websiteOf(config: Config): StorageSettings['website'] {
  const { protocol, hostname } = new URL(config.baseUrl ?? 'http://localhost')
  const host = config.storageWebsiteHost
  const names =
    host === undefined ? ['localhost', hostname].map((name) => `website.${name}`) : [host]
  return {
    hosts: [...new Set(names)],
    protocol: protocol === 'https:' ? 'https' : 'http',
  }
}
