"""From a trainer's checkpoint or policy to a bundle, in one call or one command.

Each module is named after its library and imports it only when it is used:

    from leapp.integrations import rsl_rl

    rsl_rl.export_checkpoint("logs/model_1500.pt", "walker")

Its functions return the path of the bundle's YAML file. The command ``leapp-export`` offers the
same: ``leapp-export rsl_rl logs/model_1500.pt -o walker``. For that each has two more:

* ``add_arguments(parser)`` adds its own arguments to an ``argparse.ArgumentParser``, to which
  ``-o`` (``path``, the bundle's folder), ``--backend`` and ``--verbose`` are added as well; they
  are called as the parameters of ``export_checkpoint`` are;
* ``run(arguments)`` exports what the parsed arguments say and returns the YAML file's path.
"""
