// Tests whether V8 keeps an object's properties at fixed offsets. V8 makes a dictionary, slow to read, of an object
// literal with a getter that is made again and again. Its getter stays among the old objects, with all that it reaches,
// until the whole heap is collected. Such an object for each request kept a seventh of all requests' memory.
import { setFlagsFromString } from 'node:v8'
import { runInThisContext } from 'node:vm'

setFlagsFromString('--allow-natives-syntax')
export const hasFastProperties = runInThisContext('(object) => %HasFastProperties(object)') as (
  object: object,
) => boolean
