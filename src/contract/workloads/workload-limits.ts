// Limits of workloads that programs without schemas know too.

/** It is part of a host name beside the account's id. */
export const WORKLOAD_NAME = /^[a-z](?:[a-z0-9-]{0,29}[a-z0-9])?$/
export const IMAGE_NAME = /^[a-z0-9][A-Za-z0-9._/:@+-]{0,511}$/

/** Workloads that an account has at most. */
export const WORKLOADS_MAX = 20
/** Versions of a workload that are kept, the newest first, and the live one. */
export const WORKLOAD_VERSIONS_MAX = 10
export const WORKLOAD_VARIABLES_MAX = 100
/** Characters of all variables and secrets with their names. */
export const WORKLOAD_ENVIRONMENT_MAX = 32_768
export const WORKLOAD_INSTANCES_MAX = 20
/** Instances that run at once for an account, those of a version that is being replaced too. */
export const ACCOUNT_INSTANCES_MAX = 50
export const WORKLOAD_INSTANCES_DEFAULT = 1
/** Requests of an instance at once, beyond which another one starts. */
export const WORKLOAD_TARGET_REQUESTS = { least: 1, most: 200, byDefault: 50 } as const
export const WORKLOAD_MEMORY = { least: '16MB', most: '256GB', byDefault: '256MB' } as const
export const WORKLOAD_CPU = { least: 0.05, most: 64, byDefault: 1 } as const
/** Time without a request until it sleeps, where it needs no instance at least. */
export const WORKLOAD_SLEEP = { least: '10s', most: '24h', byDefault: '5m' } as const
export const HEALTH_INTERVAL = { least: '1s', most: '5m', byDefault: '10s' } as const
export const HEALTH_TIMEOUT = { least: '100ms', most: '1m', byDefault: '5s' } as const
/** Volumes of a workload. */
export const WORKLOAD_VOLUMES_MAX = 10
export const WORKLOAD_VOLUME = { least: '16MB', most: '1000GB' } as const
export const VOLUME_NAME = /^[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?$/
/** Not where each instance has files of its own. */
export const VOLUME_PATH =
  /^(?!\/(?:proc|sys|dev)(?:\/|$)|\/(?:etc|tmp|run)$)(?:\/(?!\.\.?(?:\/|$))[\w.@+-]{1,100}){1,10}$/
/** Where neither the workload nor its image names one. */
export const WORKLOAD_PORT_DEFAULT = 8080
/** The newest lines of its log that are kept. */
export const WORKLOAD_LOG_LINES_MAX = 2000
/** The number of ends within this time that makes a crash loop. */
export const CRASHES_MAX = 3
export const CRASHES_WITHIN_MS = 300_000
/** A pull of an image, from its start to its unpacked files. */
export const IMAGE_PULL_S_MAX = 3600
/** Pulls of images at once: on a node, and of an account. */
export const PULLS_MAX = { node: 16, account: 1 } as const
/** Requests at once for each instance that a workload may have; further ones wait. */
export const WORKLOAD_CONCURRENCY = 200
export const WORKLOAD_BODY_BYTES_MAX = 1024 * 1024 * 1024
