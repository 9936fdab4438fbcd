"""From a trainer's checkpoint or policy to a bundle, in one call or one command.

Each module is named after its library and imports it only when it is used:

    from leapp.integrations import rsl_rl

    rsl_rl.export_checkpoint("logs/model_1500.pt", "walker")

Its functions return the path of the bundle's YAML file. The command ``leapp-export`` does the same:
``leapp-export rsl_rl logs/model_1500.pt -o walker``. For the command, each module has two more
functions:

* ``add_arguments(parser)`` adds its own arguments to an ``argparse.ArgumentParser``, which also
  gets ``-o`` (``path``, the bundle's directory), ``--backend`` and ``--verbose``. Arguments have
  the names of the parameters of ``export_checkpoint``;
* ``run(arguments)`` exports with the parsed arguments and returns the path of the YAML file.
"""
