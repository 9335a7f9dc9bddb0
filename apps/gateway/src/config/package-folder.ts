/** The folder of the gateway's own package, which has `bin`, `dashboard` and `package.json`, in the sources, the build and the bundle of tests. */
export const packageFolder = new URL('../../', import.meta.url)
