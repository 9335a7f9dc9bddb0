/** The part of htm that is used, with the type of what it makes. */
declare const htm: {
  bind<Made>(
    make: (type: never, props: never, ...children: never[]) => Made,
  ): (strings: TemplateStringsArray, ...values: unknown[]) => Made
}
export default htm
