/** Faktory version in INFO: client libraries compare the number. */
export const faktoryVersion = '1.10.0'
