// The event of a new object in each spelling of the interface: the type of the event, the word for the objects of one
// bucket, and the event that a function is called with. Webhooks and triggers of functions take the word.

/** The type of the event. */
export const OBJECT_CREATED = 'object.created'
const WORD = 'object-created'

/** The event that a function is called with. */
export const RUN_FOR_OBJECT = `bucket.${WORD}` as const

/** The word that asks for the new objects of a bucket. */
export const objectsOf = (bucket: string): string => `bucket/${bucket}/${WORD}`

/** The words of `objectsOf()`. */
export const OBJECTS_OF_BUCKET = new RegExp(`^${objectsOf('[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]')}$`)

/** The bucket of a word of `objectsOf()`; undefined for another word. */
export const bucketOfWord = (word: string): string | undefined =>
  OBJECTS_OF_BUCKET.test(word) ? word.split('/')[1] : undefined
