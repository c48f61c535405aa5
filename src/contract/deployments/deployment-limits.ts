// Limits of deployments that programs without schemas know too.

export const STACK_NAME = /^[a-z0-9][a-z0-9-]{0,62}$/
/** As the language has it. */
export const DESCRIPTION_CHARACTERS_MAX = 262_144
export const FILE_NAME_MAX = 200
export const DEPLOYMENT_VARIABLES_MAX = 200
/** As many as there may be functions. */
export const DEPLOYMENT_FILES_MAX = 50
/** Deployments of an account that run at once, each of another stack. */
export const DEPLOYMENTS_RUNNING_MAX = 25
/** Deployments of an account that are kept, the newest first. */
export const DEPLOYMENTS_KEPT = 100
/** The time for which a step waits until what it has changed is there. */
export const DEPLOYMENT_STEP_MS_MAX = 300_000
