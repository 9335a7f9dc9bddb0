/** A compiled program. */
export interface Program {
  readonly [Symbol.toStringTag]: string
}

/** WebAssembly, which Node has and its types lack. */
interface WebAssemblyApi {
  compile(bytes: Uint8Array): Promise<Program>
  instantiate(program: Program, imports: object): Promise<{ readonly exports: object }>
  readonly Module: {
    imports(program: Program): readonly { readonly module: string; readonly name: string }[]
  }
  /** A kind of exception. */
  readonly Tag: new (type: { readonly parameters: readonly string[] }) => object
}

export const { WebAssembly } = globalThis as unknown as { readonly WebAssembly: WebAssemblyApi }
