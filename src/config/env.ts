// The names of every setting, and the only place that reads the environment. The flag of a secret names
// a file that holds it: command lines are shown to every user of the machine (ps).
import { readFileSync } from 'node:fs'

export const SETTINGS = {
  data: { name: 'ERGON_DATA', flag: 'data', help: 'Data folder (default ./.ergon)' },
  port: {
    name: 'ERGON_PORT',
    flag: 'port',
    help: 'API port; the next three are kept for portal, ingress and mesh',
  },
  pgPort: { name: 'ERGON_PG_PORT', flag: 'pg-port', help: 'Port kept for the database door' },
  host: { name: 'ERGON_HOST', flag: 'host', help: 'Address to listen on (default 127.0.0.1)' },
  baseUrl: {
    name: 'ERGON_BASE_URL',
    flag: 'base-url',
    help: 'Public address of the API, when a proxy is in front',
  },
  trustedProxies: {
    name: 'ERGON_TRUSTED_PROXIES',
    flag: 'trusted-proxies',
    help: 'Addresses and networks of proxies in front, by comma: their X-Forwarded-For and X-Forwarded-Proto say who asked (default: nobody is believed)',
  },
  json: { name: 'ERGON_JSON', flag: 'json', help: 'Print the ready line as one JSON object' },
  logLevel: {
    name: 'ERGON_LOG_LEVEL',
    flag: 'log-level',
    help: 'debug, info, warn or error (default warn)',
  },
  databaseUrl: {
    name: 'DATABASE_URL',
    flag: 'database-url',
    help: 'An external PostgreSQL 16 for our own state',
  },
  pgBin: {
    name: 'ERGON_PG_BIN',
    flag: 'pg-bin',
    help: 'Folder of your own PostgreSQL 16 programs',
  },
  pgUpgrade: {
    name: 'ERGON_PG_UPGRADE',
    flag: 'pg-upgrade',
    help: 'Choose PostgreSQL anew at this start: another ERGON_PG_BIN, a newer 16, the extension vector',
  },
  artifacts: {
    name: 'ERGON_ARTIFACTS',
    flag: 'artifacts',
    help: 'Folder with packages, for machines without a network',
  },
  models: {
    name: 'ERGON_MODELS',
    flag: 'models',
    help: 'Default models to load: names by comma, "none", or "default" for all (default)',
  },
  gpu: {
    name: 'ERGON_GPU',
    flag: 'gpu',
    help: 'What models here use of a GPU: off, auto, cuda or vulkan; needs the package of it and ERGON_PLUG_URL, as nothing else sees what it draws (default off)',
  },
  gateways: {
    name: 'ERGON_GATEWAYS',
    flag: 'gateways',
    help: 'Number of gateway processes (default 1)',
  },
  isolation: {
    name: 'ERGON_ISOLATION',
    flag: 'isolation',
    help: 'root, userns or plain (default: what the machine allows)',
  },
  operator: {
    name: 'ERGON_OPERATOR',
    flag: 'operator',
    help: 'Operator name in X-Routed-To (default ergon)',
  },
  region: {
    name: 'ERGON_REGION',
    flag: 'region',
    help: 'Region name in X-Routed-To (default local)',
  },
  carbonZone: {
    name: 'ERGON_CARBON_ZONE',
    flag: 'carbon-zone',
    help: 'Electricity zone: an ISO code such as DE or US, or EU; others need a live source (default WORLD, assumed)',
  },
  carbonSource: {
    name: 'ERGON_CARBON_SOURCE',
    flag: 'carbon-source',
    help: 'Live carbon figures: uk, or electricity-maps with ERGON_CARBON_TOKEN (default: built-in, yearly)',
  },
  carbonToken: {
    name: 'ERGON_CARBON_TOKEN',
    flag: 'carbon-token-file',
    isSecret: true,
    help: 'Key of the carbon source',
  },
  wattTimeLogin: {
    name: 'ERGON_WATTTIME_LOGIN',
    flag: 'watttime-login-file',
    isSecret: true,
    help: '<user>:<password> at WattTime: `ergon meter` shows what one more kWh would cause; never billed',
  },
  wattTimeRegion: {
    name: 'ERGON_WATTTIME_REGION',
    flag: 'watttime-region',
    help: 'Region as WattTime names it, for example CAISO_NORTH',
  },
  pueMilli: {
    name: 'ERGON_PUE_MILLI',
    flag: 'pue-milli',
    help: 'Overhead of the building in thousandths (default 1000)',
  },
  plugUrl: {
    name: 'ERGON_PLUG_URL',
    flag: 'plug-url',
    help: 'HTTP power meter: shelly+http://…, tasmota+http://… or redfish+https://user:password@…/redfish/v1/Chassis/1/Power',
  },
  plugBandPct: {
    name: 'ERGON_PLUG_BAND_PCT',
    flag: 'plug-band-pct',
    help: 'Declared error of the power meter in percent, from its data sheet (default 10)',
  },
  sensorIdleMilliwatts: {
    name: 'ERGON_SENSOR_IDLE_MILLIWATTS',
    flag: 'sensor-idle-milliwatts',
    help: 'What the best sensor shows when nothing runs, in milliwatts (default: by calibration, else guessed)',
  },
  sysfsRoot: {
    name: 'ERGON_SYSFS_ROOT',
    flag: 'sysfs-root',
    help: 'Where the kernel shows its sensors (default /sys)',
  },
  pricePusdPerJ: {
    name: 'ERGON_PRICE_PUSD_PER_J',
    flag: 'price-pusd-per-j',
    help: 'Price in pico-dollars per joule (default 69444)',
  },
  freeTierJ: {
    name: 'ERGON_FREE_TIER_J',
    flag: 'free-tier-j',
    help: 'Free joules a day for accounts without funds (default 50000)',
  },
  metricsToken: {
    name: 'ERGON_METRICS_TOKEN',
    flag: 'metrics-token-file',
    isSecret: true,
    help: 'Serve /metrics over TCP to this bearer token',
  },
  bodyMemoryMib: {
    name: 'ERGON_BODY_MEMORY_MIB',
    flag: 'body-memory-mib',
    help: 'MiB that request bodies may hold in memory at once, in each gateway (default 256)',
  },
  windowsDays: {
    name: 'ERGON_WINDOWS_DAYS',
    flag: 'windows-days',
    help: 'For how many days windows of the meter are kept: a row a second for a day, then a row for five minutes; 0 for ever (default 400)',
  },
  storageDayS: {
    name: 'ERGON_STORAGE_DAY_S',
    flag: 'storage-day-s',
    help: 'How long a day of lifecycle rules lasts, in seconds, for trying them (default 86400)',
  },
  storageMilliwattsPerTb: {
    name: 'ERGON_STORAGE_MILLIWATTS_PER_TB',
    flag: 'storage-milliwatts-per-tb',
    help: 'Power of storing 10¹² bytes, in milliwatts: what stored bytes are charged at; 0 for nothing (default 1200: an SSD by the Cloud Carbon Footprint coefficients, of a disk 650)',
  },
  storageMinuteS: {
    name: 'ERGON_STORAGE_MINUTE_S',
    flag: 'storage-minute-s',
    help: 'How often stored bytes are charged, in seconds, for trying it (default 60)',
  },
  storageKmsKeys: {
    name: 'ERGON_STORAGE_KMS_KEYS',
    flag: 'storage-kms-keys',
    help: 'Names of keys that objects may be encrypted with (SSE-KMS), by comma; the keys follow from the secret of the data folder',
  },
  storageBuckets: {
    name: 'ERGON_STORAGE_BUCKETS',
    flag: 'storage-buckets',
    help: 'Buckets that an account may have; more are 400 TooManyBuckets, and those that are there stay (default 1000)',
  },
  storageAcls: {
    name: 'ERGON_STORAGE_ACLS',
    flag: 'storage-acls',
    help: 'Whether access control lists count in new buckets: on or off (default off, as at AWS)',
  },
  storageEncryption: {
    name: 'ERGON_STORAGE_ENCRYPTION',
    flag: 'storage-encryption',
    help: 'Whether new buckets encrypt what is put into them (SSE-S3), as at AWS: on or off (default off, as reading a large object then takes six times the CPU)',
  },
  storageWebsiteHost: {
    name: 'ERGON_STORAGE_WEBSITE_HOST',
    flag: 'storage-website-host',
    help: 'Name below which buckets are websites, as <bucket>.<name> (default website. before the name of the API)',
  },
  storageBlobs: {
    name: 'ERGON_STORAGE_BLOBS',
    flag: 'storage-blobs',
    help: 'Where new large bodies go: fs, or s3://bucket/prefix of an S3 store (default fs); `ergon storage move` brings the old ones',
  },
  storageS3Endpoint: {
    name: 'ERGON_STORAGE_S3_ENDPOINT',
    flag: 'storage-s3-endpoint',
    help: 'Address of the S3 store (default: AWS in the region)',
  },
  storageS3Region: {
    name: 'ERGON_STORAGE_S3_REGION',
    flag: 'storage-s3-region',
    help: 'Region of the S3 store (default us-east-1)',
  },
  storageS3Key: {
    name: 'ERGON_STORAGE_S3_KEY',
    flag: 'storage-s3-key-file',
    isSecret: true,
    help: 'Key of the S3 store, as access:secret; needed while bodies are there',
  },
  storageS3Stores: {
    name: 'ERGON_STORAGE_S3_STORES',
    flag: 'storage-s3-stores-file',
    isSecret: true,
    help: 'S3 stores with a key of their own, as JSON: [{"store": "s3://bucket/prefix", "endpoint", "region", "key"}]; the three settings before this are for all others',
  },
  accountRequests: {
    name: 'ERGON_ACCOUNT_REQUESTS',
    flag: 'account-requests',
    help: 'Requests of one account that may run at once, in each gateway (default 256)',
  },
  ballastMib: {
    name: 'ERGON_BALLAST_MIB',
    flag: 'ballast-mib',
    help: 'MiB of disk kept for journals and state when others fill it; at most a tenth of the disk; 0 for none (default 256)',
  },
  journalSync: {
    name: 'ERGON_JOURNAL',
    flag: 'journal',
    help: '"sync": replies wait for the disk (default "group")',
  },
} as const

export type SettingKey = keyof typeof SETTINGS
/** Settings whose flag names a file; by key. */
export const isSecret = (key: SettingKey): boolean => 'isSecret' in SETTINGS[key]

export type RawSettings = { readonly [K in SettingKey]?: string }

/** What a secret's file holds, without the newline at its end. Throws what the file system says. */
export const readSecretFile = (path: string): string =>
  readFileSync(path, 'utf8').replace(/\r?\n$/, '')

/** Reads the environment; empty values count as absent. */
export function readEnvironment(): RawSettings {
  const found: { [K in SettingKey]?: string } = {}
  for (const [key, setting] of Object.entries(SETTINGS) as [SettingKey, { name: string }][]) {
    const value = process.env[setting.name]
    if (value !== undefined && value !== '') found[key] = value
  }
  return found
}

/** The descriptor whose end of file tells that the starting process is gone. */
export const parentDescriptor = (): number | undefined => {
  const value = Number(process.env['ERGON_PARENT_FD'] ?? '')
  return Number.isInteger(value) && value > 2 ? value : undefined
}

/** What child programs such as pip and apt may see of the environment. */
export function toolEnvironment(): Readonly<Record<string, string>> {
  const keep = [
    'PATH',
    'HOME',
    'LANG',
    'TMPDIR',
    'http_proxy',
    'https_proxy',
    'no_proxy',
    'HTTP_PROXY',
    'HTTPS_PROXY',
    'NO_PROXY',
    'SSL_CERT_FILE',
  ]
  const found: Record<string, string> = {}
  for (const [name, value] of Object.entries(process.env))
    if (value !== undefined && (keep.includes(name) || name.startsWith('PIP_'))) found[name] = value
  return found
}
