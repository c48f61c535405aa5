// The services in the order of charts and tables, with their names and the class of their colour.
export const SERVICES = [
  'storage',
  'workloads',
  'databases',
  'functions',
  'inference',
  'other',
] as const
export type ServiceName = (typeof SERVICES)[number]

const NAMES: Readonly<Record<string, string>> = {
  inference: 'Inference',
  workloads: 'Workloads',
  functions: 'Functions',
  databases: 'Databases',
  storage: 'Storage',
  other: 'Other',
}
/** Services without a colour of their own are drawn as other. */
export const drawnAs = (service: string): ServiceName =>
  SERVICES.find((name) => name === service) ?? 'other'

export const serviceName = (service: string): string =>
  NAMES[service] ?? service.charAt(0).toUpperCase() + service.slice(1)

/** The name of an operation on the ledger, each another: `chat.create` is chat, `database.get` a read of it. */
export const operationName = (operation: string): string =>
  OPERATION_NAMES[operation] ??
  operation
    .replace(/\.create$/, ' made')
    .replace(/\.get$/, ' read')
    .replaceAll(/[.-]/g, ' ')

const OPERATION_NAMES: Readonly<Record<string, string>> = {
  'cell.standing': 'database server',
  'function.standing': 'function awake',
  'workload.standing': 'workload awake',
  'volume.standing': 'volumes',
  'image.standing': 'images',
  'embedding.create': 'embeddings',
  'chat.create': 'chat',
  'completion.create': 'completion',
  'receipt.list': 'receipts read',
  'ledger.list': 'ledger read',
  'live.get': 'live figures',
  'lookup.get': 'lookup',
  'presign.create': 'presigned address',
}
