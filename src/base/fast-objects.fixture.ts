// Whether V8 keeps an object's properties at fixed places. It does not for an object literal with a getter
// that is made again and again: it is a dictionary, slow to read, and its getter is kept among the old
// objects, with all that it reaches, until the whole heap is collected. Where one was made for each
// request, a seventh of what requests made stayed.
import { setFlagsFromString } from 'node:v8'
import { runInThisContext } from 'node:vm'

setFlagsFromString('--allow-natives-syntax')
export const hasFastProperties = runInThisContext('(object) => %HasFastProperties(object)') as (
  object: object,
) => boolean
