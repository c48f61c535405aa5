// The resources of a description file. The guide is checked against this table.
import {
  FUNCTION_CONCURRENCY_MAX,
  FUNCTION_MEMORIES,
  FUNCTION_ROUTE,
  RUNTIME_EXAMPLES,
  runtimeOf,
} from '#contract/functions/function-limits.ts'
import { EVENTS } from '#contract/events.ts'
import { DATABASE_SIZES } from '#contract/databases/databases.ts'
import * as workloads from '#contract/workloads/workload-limits.ts'
import { typeOfWanted } from '#contract/webhooks/event-samples.ts'
import { OBJECTS_OF_BUCKET, objectsOf } from '#contract/storage/object-created.ts'
import { meantOrAll } from '#hcl/diagnostics.ts'
import type { BlockType, ResourceType, SpecOf } from './block-type.ts'
import {
  environmentField,
  flagField,
  integerField,
  parsedField,
  required,
  resourceField,
  textField,
  textsField,
} from './field.ts'
import * as names from './names.ts'
import {
  cpuField,
  durationField,
  energyBudgetField,
  scheduleField,
  sizeField,
} from './quantities.ts'

const region = textField({
  help: 'Where it runs; auto, the default, is the region of the service',
  expected: 'a region, or "auto"',
  pattern: /^[a-z][a-z0-9-]{0,62}$/,
})
const env = environmentField('Environment variables')

const secret = {
  help: 'An environment variable whose value is encrypted, and shown nowhere',
  label: names.ENVIRONMENT_NAME,
  countMax: 100,
  attributes: {
    value: required(textField({ help: 'Mostly a sensitive variable: var.stripe_key' })),
  },
} as const satisfies BlockType

const scale = {
  help: 'How many instances there are',
  countMax: 1,
  attributes: {
    min: integerField('Instances at least; with 0 it sleeps while no request comes', {
      least: 0,
      most: workloads.WORKLOAD_INSTANCES_MAX,
    }),
    max: integerField('Instances at most', {
      least: 1,
      most: workloads.WORKLOAD_INSTANCES_MAX,
    }),
    target_requests: integerField(
      'Requests of an instance at once, beyond which another one starts',
      workloads.WORKLOAD_TARGET_REQUESTS,
    ),
  },
  check: ({ min, max }) =>
    Number(min ?? 0) > Number(max ?? Infinity) ? 'Expected min to be no more than max' : undefined,
} as const satisfies BlockType

const health = {
  help: 'The request that tells whether an instance is ready',
  countMax: 1,
  attributes: {
    path: required(
      textField({
        help: 'Its path',
        expected: 'a path such as "/healthz"',
        pattern: /^\/[^\s\0]{0,1000}$/,
      }),
    ),
    interval: durationField('Time between two requests', workloads.HEALTH_INTERVAL),
    timeout: durationField('Time for an answer', workloads.HEALTH_TIMEOUT),
  },
} as const satisfies BlockType

const volume = {
  help: 'A folder that outlives instances',
  label: names.RESOURCE_NAME,
  countMax: workloads.WORKLOAD_VOLUMES_MAX,
  attributes: {
    path: required(
      textField({
        help: 'Where it is within the container',
        expected: 'an absolute path such as "/data", and not /etc, /tmp, /run, /proc, /sys or /dev',
        pattern: workloads.VOLUME_PATH,
      }),
    ),
    size: required(sizeField('Its room, which can only grow', workloads.WORKLOAD_VOLUME)),
  },
} as const satisfies BlockType

type PathOwner = { readonly path?: unknown }

/** A volume within another one, and several instances with a volume. */
function misfitOfVolumes({ volume: volumes, scale }: Readonly<Record<string, unknown>>) {
  const paths = ((volumes ?? []) as readonly PathOwner[]).map(({ path }) => path)
  if (paths.length === 0) return undefined
  const nth = paths.findIndex((path, at) =>
    paths.slice(0, at).some((other) => isNested(path, other)),
  )
  if (nth >= 0)
    return {
      text: 'Expected a path that is not within that of another volume, nor the other way round',
      block: 'volume',
      nth,
    }
  const { min, max = min } = (scale ?? {}) as { readonly min?: unknown; readonly max?: unknown }
  if (typeof max !== 'number' || max <= 1) return undefined
  const text = 'Expected max to be 1, as a workload with a volume has one instance at most'
  return { text, block: 'scale', nth: 0 }
}

/** Paths that are not known yet are none. */
function isNested(one: unknown, other: unknown): boolean {
  if (typeof one !== 'string' || typeof other !== 'string') return false
  const [shorter = '', longer = ''] = [`${one}/`, `${other}/`].toSorted(
    (a, b) => a.length - b.length,
  )
  return longer.startsWith(shorter)
}

const workload = {
  help: 'A container that serves requests',
  label: names.NAME_OF_WORKLOAD,
  attributes: {
    image: required(
      textField({
        help: 'The image, best with its digest; or oci: or docker-archive: and a path',
        expected: 'a reference to an image, such as "registry.example.com/api:1.4.2"',
        pattern: workloads.IMAGE_NAME,
      }),
    ),
    region,
    energy_budget: energyBudgetField,
    port: integerField('The port that the container listens on; PORT has it too', {
      least: 1,
      most: 65_535,
    }),
    command: textsField({ help: 'The program and its arguments, in place of those of the image' }),
    cpu: cpuField,
    memory: sizeField('Memory of an instance', workloads.WORKLOAD_MEMORY),
    scale_to_zero_after: durationField(
      'Time without a request until it sleeps',
      workloads.WORKLOAD_SLEEP,
    ),
    env,
  },
  blocks: { scale, health, secret, volume },
  check: misfitOfVolumes,
  outputs: { id: 'Its id, wl_…', url: 'The address at which it answers' },
} as const satisfies ResourceType

const route = {
  help: 'A hostname, and the workload or the function that answers to it',
  label: names.HOSTNAME,
  attributes: {
    to: required(resourceField('The workload or the function', 'workload', 'function')),
  },
  outputs: { url: 'The address with the hostname' },
} as const satisfies ResourceType

const trigger = textField({
  help: 'Runs it for each new object of a bucket',
  expected: `a trigger such as "${objectsOf('photos')}"`,
  pattern: OBJECTS_OF_BUCKET,
})

const lambda = {
  help: 'A file that runs for requests, new objects or times',
  label: names.RESOURCE_NAME,
  attributes: {
    file: required(
      textField({
        help: 'The file, from the folder of the description',
        expected: 'a relative path, such as "hello.ts"',
        pattern: /^(?!\/)(?!.*(?:^|\/)\.\.(?:\/|$))[^\0\s]{1,500}$/,
      }),
    ),
    runtime: parsedField(
      {
        help: 'The language and its version; by the end of the file where it is absent',
        expected: `a runtime such as ${RUNTIME_EXAMPLES.join(' or ')}`,
      },
      runtimeOf,
    ),
    route: textField({
      help: 'The path at which it answers',
      expected: 'a path such as "/hello"',
      pattern: FUNCTION_ROUTE,
    }),
    on: trigger,
    schedule: scheduleField,
    region,
    energy_budget: energyBudgetField,
    memory: sizeField('Memory of an instance', FUNCTION_MEMORIES),
    timeout: durationField('Time for an answer', { least: '1s', most: '15m' }),
    concurrency: integerField('Requests that it answers at once', {
      least: 1,
      most: FUNCTION_CONCURRENCY_MAX,
    }),
    env,
  },
  blocks: { secret },
  outputs: { id: 'Its id', url: 'The address at which it answers' },
} as const satisfies ResourceType

const bucket = {
  help: 'A bucket of objects',
  label: names.BUCKET_NAME,
  attributes: { region, versioning: flagField('Whether replaced and removed objects are kept') },
  outputs: {},
} as const satisfies ResourceType

const database = {
  help: 'A PostgreSQL database',
  label: names.DATABASE_NAME,
  attributes: {
    region,
    size: sizeField('The room for its data; 1GB where it is absent', DATABASE_SIZES),
    energy_budget: energyBudgetField,
  },
  outputs: { id: 'Its id, db_…', url: 'Its connection string', host: 'The host to connect to' },
} as const satisfies ResourceType

const webhook = {
  help: 'An address that receives events',
  label: names.RESOURCE_NAME,
  attributes: {
    url: required(
      textField({
        help: 'Where events go',
        expected: 'an https address',
        pattern: /^https:\/\/[^\s\0]{1,2000}$/,
      }),
    ),
    events: required(
      textsField(
        {
          help: `Types of events, or ${objectsOf('<bucket>')}`,
          expected: 'a list of event types, such as ["workload.deployed"]',
        },
        (text) =>
          typeOfWanted(text) === undefined
            ? {
                message: `There is no event type "${text.slice(0, 60)}"`,
                hint: meantOrAll(text, [...Object.keys(EVENTS), objectsOf('<bucket>')]),
              }
            : undefined,
      ),
    ),
    description: textField({ help: 'Words of your own', charactersMax: 200 }),
  },
  outputs: { id: 'Its id', secret: 'The secret that signs the events' },
} as const satisfies ResourceType

export const RESOURCE_TYPES = {
  workload,
  route,
  function: lambda,
  bucket,
  database,
  webhook,
} as const satisfies Record<string, ResourceType>

export type ResourceTypeName = keyof typeof RESOURCE_TYPES
export type SpecOfType<Type extends ResourceTypeName> = SpecOf<(typeof RESOURCE_TYPES)[Type]>
