// The settings of the products that tests share. Tests of equal settings run on one started product, so a new
// entry costs a start (2 s of CPU): prefer the entry that is there.
import { IDLE_MILLIWATTS, startPlug } from './metering/plug-server.ts'
import type { ErgonOptions } from './start-ergon.ts'

export const CHAT = 'smollm2-135m-instruct'
export const EMBEDDING = 'all-minilm-l6-v2'
export const METRICS_TOKEN = 'metrics-token-of-a-test'
/** Requests of one account that may run at once: fewer than by default, so that tests can reach the limit. */
export const ACCOUNT_REQUESTS = 64
/** A minute of stored bytes lasts one second, and each MB draws 1 W. */
export const MINUTE_S = 1
export const MILLIWATTS_PER_TB = 1_000_000_000

/** Settings, or a function that makes them where they name something that must run first. */
export type Settings = ErgonOptions | (() => Promise<ErgonOptions>)

/** No model of our own; new buckets encrypt. */
export const PLAIN: Settings = { env: { ERGON_STORAGE_ENCRYPTION: 'on' } }

/** Two gateways behind one port: a further setting for one life of a product. */
export const TWO_GATEWAYS = { ERGON_GATEWAYS: '2', ERGON_METRICS_TOKEN: METRICS_TOKEN }

/** Functions that sleep after a second. */
export const BRIEF_FUNCTIONS: Settings = { env: { ERGON_FUNCTION_IDLE_SECONDS: '1' } }

/** Object storage. */
export const STORAGE: Settings = {
  env: {
    ERGON_STORAGE_KMS_KEYS: 'customers,invoices',
    ERGON_TRUSTED_PROXIES: '127.0.0.1',
    ERGON_ACCOUNT_REQUESTS: String(ACCOUNT_REQUESTS),
  },
}

/** The default chat and embedding models, measured by the CPU model alone. */
export const MODELS: Settings = { models: `${CHAT},${EMBEDDING}` }

/**
 * All default models, a plug as the meter, a debug log, quick charges of stored bytes, and no free tier: an account
 * that never had funds has used up its free joules from the start.
 */
export const METERED: Settings = async () => ({
  models: 'default',
  env: {
    ERGON_FREE_TIER_J: '0',
    ERGON_METRICS_TOKEN: METRICS_TOKEN,
    ERGON_LOG_LEVEL: 'debug',
    ERGON_PLUG_URL: await startPlug(),
    ERGON_PLUG_BAND_PCT: '3',
    ERGON_SENSOR_IDLE_MILLIWATTS: String(IDLE_MILLIWATTS),
    ERGON_STORAGE_MINUTE_S: String(MINUTE_S),
    ERGON_STORAGE_MILLIWATTS_PER_TB: String(MILLIWATTS_PER_TB),
  },
})
