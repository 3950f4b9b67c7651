mod bindings;
