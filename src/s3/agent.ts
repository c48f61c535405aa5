// Object storage in the agent: where blobs are, the upkeep cell, and the operator's operations on both.
import type { Config } from '#config/config.ts'
import type { AgentCore, AgentPart, AgentProduct } from '#node/agent-part.ts'
import { storageKeyRoutes } from '#objects/control/storage-keys.ts'
import { storageMoveRoutes } from '#objects/control/storage-move.ts'
import { settleBlobStores } from '#objects/settle-blob-stores.ts'
import { startStorageUpkeep, STORAGE_CELL, STORAGE_PROGRAM } from '#objects/upkeep/storage-cell.ts'
import type { StorageSettings } from './settings.ts'

export const STORAGE_AGENT: AgentProduct = {
  name: 'storage',
  programs: [STORAGE_PROGRAM],
  journals: [STORAGE_CELL],
  open,
}

async function open(core: AgentCore, signal: AbortSignal): Promise<AgentPart> {
  const { config, data, cells, state, log } = core
  const blobs = await settleBlobStores({ config, data, state, log, signal })
  const upkeep = { ...core, blobs, meter: core.meterName }
  return {
    gateway: { settings: { blobs, storage: settingsOf(config) }, writes: [blobs.folder] },
    control: [
      ...storageMoveRoutes({ state, cells, blobs, log }),
      ...storageKeyRoutes({ state, keyIds: config.storageKmsKeys }),
    ],
    start: (stopped) => startStorageUpkeep({ ...upkeep, signal: stopped }),
    cells: [{ stage: 'workers', name: STORAGE_CELL }],
  }
}

const settingsOf = (config: Config): StorageSettings => ({
  region: config.region,
  bucketsMax: config.storageBuckets,
  acls: config.storageAcls,
  encrypts: config.storageEncryption,
  keyIds: config.storageKmsKeys,
  trustedProxies: config.trustedProxies,
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
