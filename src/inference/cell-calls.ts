// The requests that a model cell answers besides OpenAI's operations.

/** The name that the caller gives to its call. */
export const CALL_HEADER = 'x-ergon-call'
/**
 * DELETE below it ends a call: 204, or 404 when no call of that name runs. A gateway could close the connection of
 * the call instead, but the cell could not report there what the step that still runs takes.
 */
export const CALLS_PATH = '/v1/calls/'
/** GET: `{ stuck: null }`, or why the engine makes no more steps; the agent then ends the process. */
export const STUCK_PAGE = '/stuck'
