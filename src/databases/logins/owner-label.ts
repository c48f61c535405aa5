// The account's name of the first role of a database. Apart from the contract, whose schemas a proxy need not load.
export const OWNER_LABEL = 'owner'
