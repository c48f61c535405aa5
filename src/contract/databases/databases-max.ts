// Apart from the schemas: the endpoint of databases is without zod.

/** Databases that an account may have at once. */
export const DATABASES_MAX = 20
