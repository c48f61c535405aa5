// How a gateway tells a model cell that nobody waits for an answer any more. Closing the connection would say
// the same, but leave no way for the cell to report the step that is still running.

/** The name that the caller gives to its call. */
export const CALL_HEADER = 'x-ergon-call'
/** DELETE below it ends a call: 204, or 404 when no call of that name runs. */
export const CALLS_PATH = '/v1/calls/'
